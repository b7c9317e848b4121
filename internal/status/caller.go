package status

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
)

// depth is how many frames Caller looks at.
const depth = 64

// Caller returns the call by which the program has entered the library in this goroutine, such as
// "Proc.Barrier" or "collectives.AllReduce", and its place there, such as "ring/main.go:31". Both are
// empty in a goroutine of the library itself. It walks the stack, so it is for waits that last.
func Caller() (call, place string) {
	var pcs [depth]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if pkg, name := split(f.Function); inLibrary(pkg) {
			call = spell(pkg, name)
		} else if pkg != "runtime" {
			return call, locate(f)
		}
	}
	return "", ""
}

// libraries are the packages, with those below them, that a program calls or that are called by
// those.
var libraries = []string{
	"gaspi", "collectives", "ssp", "hoplite", "notify", "segment",
	"internal/status", "internal/transport", "internal/agree", "internal/nap",
}

// module is the path of this module, with a slash.
var module = func() string {
	pc, _, _, _ := runtime.Caller(0)
	pkg, _ := split(runtime.FuncForPC(pc).Name())
	return strings.TrimSuffix(pkg, "internal/status")
}()

func inLibrary(pkg string) bool {
	rest, ours := strings.CutPrefix(pkg, module)
	return ours && slices.ContainsFunc(libraries, func(lib string) bool {
		return rest == lib || strings.HasPrefix(rest, lib+"/")
	})
}

// split returns the package of a function, and the rest of its name.
func split(function string) (pkg, name string) {
	dir := strings.LastIndex(function, "/") + 1
	if bracket := strings.Index(function, "["); bracket >= 0 { // of type arguments, which may have slashes
		dir = strings.LastIndex(function[:bracket], "/") + 1
	}
	dot := strings.Index(function[dir:], ".")
	if dot < 0 {
		return function, ""
	}
	return function[:dir+dot], function[dir+dot+1:]
}

// spell returns a function as programs write it.
func spell(pkg, name string) string {
	if begin, end := strings.Index(name, "["), strings.LastIndex(name, "]"); begin >= 0 { // of type arguments
		method := ""
		if rest := name[end+1:]; strings.HasPrefix(rest, ").") {
			method = rest
		}
		name = name[:begin] + method
	}
	if typ, method, ok := strings.Cut(name, ")."); ok {
		return strings.TrimLeft(typ, "(*") + "." + method
	}
	return path.Base(pkg) + "." + name
}

// locate returns file and line, with the folder of the file.
func locate(f runtime.Frame) string {
	dir, file := path.Split(f.File)
	return fmt.Sprintf("%s:%d", path.Join(path.Base(dir), file), f.Line)
}
