package vm

import (
	"bytes"
	"debug/elf"
	"fmt"
	"path"
	"strings"
)

// modules are what the guest's kernel loads, besides what they need: soft-RoCE
// and the checksum it asks the kernel for by name, what connections are made
// with, and a network to put the device on.
var modules = []string{"crc32_generic", "veth", "ib_uverbs", "rdma_ucm", "rdma_rxe"}

// A moduleSet is kernel modules by name.
type moduleSet map[string]module

type module struct {
	data  []byte
	needs []string
}

// mayMatter tells whether the module of that path in a kernel package may be one
// of modules or be needed by one. The others would fill memory: a kernel package
// has 400 MB of them.
func mayMatter(name string) bool {
	_, below, found := strings.Cut(name, "/kernel/")
	if !found || path.Ext(name) != ".ko" {
		return false
	}
	for _, folder := range []string{"drivers/infiniband/core/", "drivers/infiniband/sw/", "fs/configfs/", "net/", "crypto/", "lib/"} {
		if strings.HasPrefix(below, folder) {
			return true
		}
	}
	return path.Dir(below) == "drivers/net"
}

// add takes a module of that path.
func (s moduleSet) add(file string, data []byte) error {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	section := f.Section(".modinfo")
	if section == nil {
		return fmt.Errorf("%s has no section .modinfo, so it is no kernel module", file)
	}
	info, err := section.Data()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	s[moduleName(strings.TrimSuffix(path.Base(file), ".ko"))] = module{data, needs(info)}
	return nil
}

// moduleName returns the one spelling of a name: files and lists of what is needed
// use - and _ as they like.
func moduleName(name string) string { return strings.ReplaceAll(name, "-", "_") }

// needs returns the names of the modules that a module needs, by the section
// .modinfo of its file, which is words "key=value" that end with zeros.
func needs(info []byte) []string {
	for word := range strings.SplitSeq(string(info), "\x00") {
		if list, is := strings.CutPrefix(word, "depends="); is && list != "" {
			return strings.Split(moduleName(list), ",")
		}
	}
	return nil
}

// order returns the names of the wanted modules and of those that they need, each
// after what it needs itself.
func (s moduleSet) order(wanted []string) ([]string, error) {
	var names []string
	seen := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		if seen[name] {
			return nil
		}
		seen[name] = true
		m, found := s[name]
		if !found {
			return fmt.Errorf("the kernel package has no module %s", name)
		}
		for _, n := range m.needs {
			if err := visit(n); err != nil {
				return fmt.Errorf("%w, which %s needs", err, name)
			}
		}
		names = append(names, name)
		return nil
	}
	for _, name := range wanted {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}
