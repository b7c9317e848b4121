package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// checkLocks reports methods that call, while they hold a lock of their receiver, a method of the
// same receiver that takes that lock: such a call never returns. A lock is a field, perhaps of
// a field, of which Lock or RLock is called. Function literals are not looked into, nor are
// deferred calls; a lock counts as held after a branch if every way through it holds the lock.
func checkLocks(files []*goFile) []string {
	m := &methods{all: make(map[methodName]*method)}
	for _, f := range files {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 {
				continue
			}
			name := methodName{f.dir, receiver(fn), fn.Name.Name}
			// Files for other systems have methods of the same name; all of them are looked at.
			m.all[name] = &method{name: name, file: f, self: fn.Recv.List[0].Names[0].Name, body: fn.Body, next: m.all[name]}
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(m.all), func(a, b methodName) int { return strings.Compare(a.String(), b.String()) }) {
		m.takenBy(name)
	}
	return m.bad
}

// A methodName is the name of a method: its package's folder, its type and its own.
type methodName struct{ dir, typ, name string }

func (n methodName) String() string { return n.dir + "." + n.typ + "." + n.name }

// A method is one declaration of a method.
type method struct {
	name methodName
	file *goFile
	self string // name of the receiver
	body *ast.BlockStmt
	next *method // another declaration of the same name, or nil

	seen  bool
	takes locks // locks that a call takes; complete unless methods call each other
}

// locks are locks of a receiver, by the fields that lead to them: true where a method holds one,
// false where it has given one back that its caller holds.
type locks map[string]bool

// methods are the methods of a module.
type methods struct {
	all map[methodName]*method
	bad []string
}

// takenBy returns the locks that a call of the method takes, and reports what is wrong in it at
// the first call.
func (m *methods) takenBy(name methodName) locks {
	all := make(locks)
	for x := m.all[name]; x != nil; x = x.next {
		if !x.seen {
			x.seen, x.takes = true, make(locks)
			w := walker{methods: m, method: x, short: make(map[string]string)}
			w.block(x.body.List, make(locks))
		}
		maps.Copy(all, x.takes)
	}
	return all
}

// A walker follows the locks that one method holds through its statements.
type walker struct {
	*methods
	*method
	short map[string]string // names of variables that stand for fields, or their addresses
}

// block follows statements from a state. It returns the state after them, nil if nothing comes
// after them.
func (w *walker) block(list []ast.Stmt, held locks) locks {
	for _, s := range list {
		if held = w.statement(s, held); held == nil {
			return nil
		}
	}
	return held
}

func (w *walker) statement(s ast.Stmt, held locks) locks {
	switch s := s.(type) {
	case nil:
		return held
	case *ast.BlockStmt:
		return w.block(s.List, held)
	case *ast.LabeledStmt:
		return w.statement(s.Stmt, held)
	case *ast.IfStmt:
		held = w.expression(s.Cond, w.statement(s.Init, held))
		return either(w.statement(s.Body, maps.Clone(held)), w.statement(s.Else, maps.Clone(held)))
	case *ast.ForStmt:
		held = w.expression(s.Cond, w.statement(s.Init, held))
		after := w.statement(s.Body, maps.Clone(held))
		if after != nil {
			w.statement(s.Post, maps.Clone(after))
		}
		if s.Cond == nil {
			return held // by a break, if at all
		}
		return either(held, after)
	case *ast.RangeStmt:
		held = w.expression(s.X, held)
		return either(held, w.statement(s.Body, maps.Clone(held)))
	case *ast.SwitchStmt:
		return w.cases(s.Body, w.expression(s.Tag, w.statement(s.Init, held)))
	case *ast.TypeSwitchStmt:
		return w.cases(s.Body, w.statement(s.Assign, w.statement(s.Init, held)))
	case *ast.SelectStmt:
		return w.cases(s.Body, held)
	case *ast.GoStmt, *ast.DeferStmt:
		return held
	case *ast.ReturnStmt, *ast.BranchStmt:
		w.expression(s, held)
		return nil
	case *ast.AssignStmt:
		w.define(s)
		return w.expression(s, held)
	default:
		return w.expression(s, held)
	}
}

// define records the fields that variables stand for.
func (w *walker) define(s *ast.AssignStmt) {
	if s.Tok != token.DEFINE || len(s.Lhs) != len(s.Rhs) {
		return
	}
	for i, e := range s.Rhs {
		if address, ok := e.(*ast.UnaryExpr); ok && address.Op == token.AND {
			e = address.X
		}
		if path, ok := w.fieldOf(e); ok {
			w.short[s.Lhs[i].(*ast.Ident).Name] = path
		}
	}
}

// cases follows the clauses of a switch or select.
func (w *walker) cases(body *ast.BlockStmt, held locks) locks {
	after := held
	for _, c := range body.List {
		one := maps.Clone(held)
		switch c := c.(type) {
		case *ast.CaseClause:
			for _, e := range c.List {
				one = w.expression(e, one)
			}
			one = w.block(c.Body, one)
		case *ast.CommClause:
			one = w.block(c.Body, w.statement(c.Comm, one))
		}
		after = either(after, one)
	}
	return after
}

// either is the state after one of two ways, of which nil does not go on: locks whose state is the
// same after both.
func either(a, b locks) locks {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	both := make(locks)
	for lock, holds := range a {
		if other, ok := b[lock]; ok && other == holds {
			both[lock] = holds
		}
	}
	return both
}

// expression follows the calls in a statement or expression that has no blocks of its own.
func (w *walker) expression(n ast.Node, held locks) locks {
	if n == nil {
		return held
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok {
			if called, ok := w.fieldOf(call.Fun); ok {
				w.call(call.Pos(), called, held)
			}
		}
		return true
	})
	return held
}

// call follows a call of something that is reached by fields of the receiver.
func (w *walker) call(at token.Pos, called string, held locks) {
	path, name := "", called
	if dot := strings.LastIndexByte(called, '.'); dot >= 0 {
		path, name = called[:dot], called[dot+1:]
	}
	switch {
	case path == "":
		for lock := range w.takenBy(methodName{w.file.dir, w.name.typ, name}) {
			w.take(at, lock, "calls "+name+", which takes", held)
		}
	case name == "Lock" || name == "RLock":
		w.take(at, path, "takes", held)
		held[path] = true
	case name == "Unlock" || name == "RUnlock":
		if held[path] {
			delete(held, path)
		} else {
			held[path] = false
		}
	}
}

// take records that the method takes a lock, and reports it if the method holds it.
func (w *walker) take(at token.Pos, lock, how string, held locks) {
	holds, known := held[lock]
	if holds {
		w.bad = append(w.bad, fmt.Sprintf("%s: %s.%s %s %s.%s, which it holds",
			w.file.at(at), w.name.typ, w.name.name, how, w.self, lock))
	} else if !known {
		w.takes[lock] = true
	}
}

// fieldOf returns the names by which e is reached from the receiver.
func (w *walker) fieldOf(e ast.Expr) (string, bool) {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	if x, ok := sel.X.(*ast.Ident); ok {
		path, ok := w.short[x.Name]
		if x.Name == w.self {
			return sel.Sel.Name, true
		}
		return path + "." + sel.Sel.Name, ok
	}
	path, ok := w.fieldOf(sel.X)
	return path + "." + sel.Sel.Name, ok
}
