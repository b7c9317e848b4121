package lint

import "testing"

func TestLocks(t *testing.T) { report(t, checkLocks(loadModule(t).files)) }

func TestCheckLocks(t *testing.T) {
	const methods = `package p
import "sync"
type T struct { mu, other sync.Mutex; in struct { rw sync.RWMutex } }
func (t *T) takes() { t.mu.Lock(); defer t.mu.Unlock() }
func (t *T) takesInner() int { t.in.rw.RLock(); defer t.in.rw.RUnlock(); return 1 }
func (t *T) through() { t.takes() }
func (t *T) pausesLocked() { t.mu.Unlock(); t.takes(); t.mu.Lock() }
func (t *T) first() { t.second() }
func (t *T) second() { t.mu.Lock(); t.mu.Unlock(); t.first() }
type U struct { mu sync.Mutex }
func (u *U) takes() { u.mu.Lock(); defer u.mu.Unlock() }
`
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"under it", "t.mu.Lock(); defer t.mu.Unlock(); t.takes()", []string{"T.f calls takes, which takes t.mu, which it holds"}},
		{"in a branch", "t.mu.Lock(); if x := 1; x > 0 { t.takes() }; t.mu.Unlock()", []string{"T.f calls takes"}},
		{"in a condition", "t.in.rw.Lock(); for t.takesInner() > 0 { return }", []string{"T.f calls takesInner, which takes t.in.rw"}},
		{"in a result", "t.in.rw.RLock(); println(t.takesInner())", []string{"T.f calls takesInner"}},
		{"through another", "t.mu.Lock(); t.through()", []string{"T.f calls through, which takes t.mu"}},
		{"of those that call each other", "t.mu.Lock(); t.first()", []string{"T.f calls first"}},
		{"again", "t.mu.Lock(); t.mu.Lock()", []string{"T.f takes t.mu, which it holds"}},
		{"after a way that ends", "t.mu.Lock(); if true { t.mu.Unlock(); return }; t.takes()", []string{"T.f calls takes"}},
		{"in a case", "t.mu.Lock(); switch { case true: t.takes() }", []string{"T.f calls takes"}},
		{"in a loop", "t.mu.Lock(); for range 3 { t.takes() }", []string{"T.f calls takes"}},
		{"in a select", "t.mu.Lock(); select { default: t.takes() }", []string{"T.f calls takes"}},
		{"by a shorter name", "in := &t.in; in.rw.Lock(); t.takesInner()", []string{"T.f calls takesInner, which takes t.in.rw"}},
		{"given back by a shorter name", "t.in.rw.Lock(); in := &t.in; in.rw.Unlock(); t.takesInner()", nil},
		{"after it", "t.mu.Lock(); t.mu.Unlock(); t.takes()", nil},
		{"under another", "t.other.Lock(); t.takes()", nil},
		{"paused", "t.mu.Lock(); t.pausesLocked(); t.mu.Unlock()", nil},
		{"given back in a branch", "t.mu.Lock(); if true { t.mu.Unlock() }; t.takes()", nil},
		{"of somebody else", "u := new(U); t.mu.Lock(); u.takes()", nil},
		{"in a goroutine", "t.mu.Lock(); defer t.mu.Unlock(); go t.takes()", nil},
		{"in a function", "t.mu.Lock(); run := func() { t.takes() }; t.mu.Unlock(); run()", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fake(t, map[string]string{"p/a.go": methods, "p/b.go": "package p\nfunc (t *T) f() { " + c.body + " }\n"})
			expect(t, checkLocks(m.files), c.want...)
		})
	}
}
