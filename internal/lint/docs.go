package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// checkDocs reports exported names without a doc comment that starts with the
// name (methods of interfaces and fields of configuration structs included),
// and packages without a package comment. Programs and tests export nothing.
func checkDocs(files []*goFile) []string {
	var bad []string
	for _, f := range files {
		if f.test || f.generated || f.ast.Name.Name == "main" {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				bad = append(bad, funcDoc(f, d)...)
			case *ast.GenDecl:
				bad = append(bad, genDoc(f, d)...)
			}
		}
	}
	return append(bad, packageDocs(files)...)
}

// funcDoc checks one function, or one method of an exported type.
func funcDoc(f *goFile, fn *ast.FuncDecl) []string {
	name := fn.Name.Name
	if fn.Recv != nil {
		recv := receiver(fn)
		if !ast.IsExported(recv) {
			return nil
		}
		name = recv + "." + name
	}
	if !fn.Name.IsExported() || startsWith(fn.Doc, fn.Name.Name) {
		return nil
	}
	return []string{undocumented(f, fn.Pos(), name, fn.Name.Name)}
}

// receiver names the type that a method belongs to.
func receiver(fn *ast.FuncDecl) string { return typeName(fn.Recv.List[0].Type) }

// typeName names a type without its pointer and its type arguments; "" if it has no name here.
func typeName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// genDoc checks types, constants and variables. One comment above a group of
// constants or variables documents the group.
func genDoc(f *goFile, d *ast.GenDecl) []string {
	var bad []string
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			doc := s.Doc
			if doc == nil && !d.Lparen.IsValid() {
				doc = d.Doc
			}
			if s.Name.IsExported() && !startsWith(doc, s.Name.Name) {
				bad = append(bad, undocumented(f, s.Pos(), s.Name.Name, s.Name.Name))
			}
			if s.Name.IsExported() {
				bad = append(bad, memberDocs(f, s, doc.Text())...)
			}
		case *ast.ValueSpec:
			grouped := d.Lparen.IsValid() && d.Doc.Text() != ""
			for _, id := range s.Names {
				doc := s.Doc
				if doc == nil && !d.Lparen.IsValid() {
					doc = d.Doc
				}
				if id.IsExported() && !grouped && s.Comment.Text() == "" && !startsWith(doc, id.Name) {
					bad = append(bad, undocumented(f, id.Pos(), id.Name, id.Name))
				}
			}
		}
	}
	return bad
}

// memberDocs checks the methods of an interface, which are a contract, and the
// fields of a struct whose name ends in Config or Options, which users fill in
// with nothing but the comment to go by. A comment at the end of the line will
// do, and for an interface a sentence about the method in its own comment.
func memberDocs(f *goFile, s *ast.TypeSpec, typeDoc string) []string {
	var members *ast.FieldList
	told := map[string]bool{}
	switch typ := s.Type.(type) {
	case *ast.InterfaceType:
		members = typ.Methods
		for _, word := range strings.Fields(typeDoc) {
			told[strings.Trim(word, ",.:;()")] = true
		}
	case *ast.StructType:
		if strings.HasSuffix(s.Name.Name, "Config") || strings.HasSuffix(s.Name.Name, "Options") {
			members = typ.Fields
		}
	}
	if members == nil {
		return nil
	}
	var bad []string
	for _, m := range members.List {
		if m.Comment.Text() != "" {
			continue
		}
		for _, id := range m.Names {
			if id.IsExported() && !told[id.Name] && !startsWith(m.Doc, m.Names[0].Name) {
				bad = append(bad, undocumented(f, id.Pos(), s.Name.Name+"."+id.Name, m.Names[0].Name))
			}
		}
	}
	return bad
}

// startsWith reports whether a doc comment opens with the name, after an
// article if there is one.
func startsWith(doc *ast.CommentGroup, name string) bool {
	words := strings.Fields(doc.Text())
	if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	rest, ok := strings.CutPrefix(words[0], name)
	return ok && strings.Trim(rest, ",.:;'s") == "" // "Name:", "Name's"
}

func undocumented(f *goFile, pos token.Pos, full, first string) string {
	return fmt.Sprintf("%s: exported %s needs a doc comment that starts with %q (units, ownership, blocking, errors)",
		f.at(pos), full, first)
}

// packageDocs wants exactly one package comment per package. The comment of a library starts
// with "Package name"; the comment of a program names the program in its first line.
func packageDocs(files []*goFile) []string {
	type pkg struct{ dir, name string }
	docs := map[pkg][]*goFile{}
	var bad []string
	for _, f := range files {
		if f.test {
			continue
		}
		p := pkg{f.dir, f.ast.Name.Name}
		if strings.TrimSpace(f.ast.Doc.Text()) == "" {
			docs[p] = append(docs[p], nil...)
			continue
		}
		docs[p] = append(docs[p], f)
	}
	order := slices.SortedFunc(maps.Keys(docs), func(a, b pkg) int { return strings.Compare(a.dir, b.dir) })
	for _, p := range order {
		switch list := docs[p]; {
		case len(list) == 0:
			bad = append(bad, fmt.Sprintf("%s: package %s has no package comment; say what it is, what it is not, who calls it", p.dir, p.name))
		case len(list) > 1:
			bad = append(bad, fmt.Sprintf("%s: package %s has its comment in %s and %s; keep one", p.dir, p.name, list[0].path, list[1].path))
		case !opensWell(list[0].ast, p.name, path.Base(p.dir)):
			bad = append(bad, fmt.Sprintf("%s: the package comment must start with \"Package %s\", that of a program must name it", list[0].path, p.name))
		}
	}
	return bad
}

// opensWell checks how a package comment begins.
func opensWell(file *ast.File, name, folder string) bool {
	text := file.Doc.Text()
	if name != "main" {
		return strings.HasPrefix(text, "Package "+name+" ") || strings.HasPrefix(text, "Package "+name+"\n")
	}
	first, _, _ := strings.Cut(text, "\n")
	return strings.Contains(strings.ToLower(first), strings.ToLower(folder))
}
