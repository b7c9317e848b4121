package launcher_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// A program that starts ranks of itself or of another program.
func ExampleRun() {
	result, err := launcher.Run(context.Background(), launcher.Config{
		Program: "sh",
		Args:    []string{"-c", "echo rank $GASPI_RANK of $GASPI_SIZE; exit 3"},
		Ranks:   1,
		Stdout:  os.Stdout,
	})
	fmt.Println(result.ExitCode, err)
	// Output:
	// [0] rank 0 of 1
	// 3 <nil>
}
