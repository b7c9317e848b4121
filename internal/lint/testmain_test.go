package lint

import "testing"

func TestTestMain(t *testing.T) { report(t, checkTestMain(loadModule(t).files)) }

func TestCheckTestMain(t *testing.T) {
	const wrong = "TestMain does not end with testenv.Main"
	for _, c := range []struct {
		name, path, body string
		want             []string
	}{
		{"the kit", "a/a_test.go", "testenv.Main(m, nil)", nil},
		{"the kit, as something else", "a/a_test.go", "if agent() { os.Exit(serve()) }; testenv.Main(m, nil)", nil},
		{"in the kit itself", "internal/testenv/a_test.go", "Main(m, nil)", nil},
		{"another Main", "a/a_test.go", "Main(m, nil)", []string{"a/a_test.go:2: " + wrong}},
		{"its own", "a/a_test.go", "os.Exit(m.Run())", []string{"a/a_test.go:2: " + wrong}},
		{"the kit at times", "a/a_test.go", "if role() { testenv.Main(m, nil) }", []string{"a/a_test.go:2: " + wrong}},
		{"the kit in between", "a/a_test.go", "testenv.Main(m, nil); more()", []string{"a/a_test.go:2: " + wrong}},
		{"nothing", "a/a_test.go", "", []string{"a/a_test.go:2: " + wrong}},
		{"no test", "a/a.go", "os.Exit(m.Run())", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fake(t, map[string]string{c.path: "package a\nfunc TestMain(m *testing.M) { " + c.body + " }\n"})
			expect(t, checkTestMain(m.files), c.want...)
		})
	}
}
