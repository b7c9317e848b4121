package lint

import "testing"

func TestNothingTiesTheProjectToOneMachine(t *testing.T) { report(t, checkWords(loadModule(t).texts)) }

func TestCheckWords(t *testing.T) {
	for _, c := range []struct {
		name, path, line string
		want             []string
	}{
		{"plain", "README.md", "Work in the root of the repository.", nil},
		{"relative", "README.md", "see network/framework and a/root/b", nil},
		{"home", "a.go", `open("/root/data")`, []string{`a.go:1: "\"/root/"`}},
		{"home of a user", "docs/x.md", "cd /home/somebody/src", []string{"one machine"}},
		{"folder alone", "Makefile", "cd /work && make", []string{"one machine"}},
		{"scratch in documentation", "docs/x.md", "write /tmp/x", []string{"under /tmp"}},
		{"scratch in code", "a.sh", "cd /tmp/x", nil},
		{"registry", ".ci/run", "GOPROXY=https://proxy.golang.org", []string{"names the registry host proxy.golang.org"}},
		{"mirror", ".ci/run", "deb http://deb.debian.org/debian", []string{"deb.debian.org"}},
		{"own sources", "internal/lint/words.go", "/root/x", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, checkWords([]textFile{{c.path, c.line + "\n"}}), c.want...)
		})
	}
}
