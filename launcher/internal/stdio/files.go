package stdio

import "os"

// Files are the standard files that a rank inherits.
type Files struct {
	Stdin, Stdout, Stderr *os.File

	own []*os.File // belong to the rank alone
}

// Own has Close close a file, which belongs to the rank alone.
func (f *Files) Own(file *os.File) { f.own = append(f.own, file) }

// Close closes the files that belong to the rank alone, once it has inherited them.
func (f *Files) Close() {
	for _, file := range f.own {
		file.Close()
	}
}

// OpenFiles opens the standard files of a rank, each with its function; an output is told by its
// kind, stdout or stderr. Without a function for the input, the rank reads nothing. The
// functions have the Files own what they open for the rank alone.
func OpenFiles(stdin func(*Files) (*os.File, error), output func(kind string, f *Files) (*os.File, error)) (_ *Files, err error) {
	if stdin == nil {
		stdin = openNull
	}
	f := &Files{}
	if f.Stdin, err = stdin(f); err == nil {
		f.Stdout, err = output("stdout", f)
	}
	if err == nil {
		f.Stderr, err = output("stderr", f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openNull opens the file that has nothing in it.
func openNull(f *Files) (*os.File, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	f.Own(null)
	return null, nil
}
