package vm

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// modules are what the guest's kernel loads, besides what they need: soft-RoCE
// and the checksum it asks the kernel for by name, what connections are made
// with, and a network to put the device on.
var modules = []string{"crc32_generic", "veth", "ib_uverbs", "rdma_ucm", "rdma_rxe"}

// keepModules moves the modules that the guest loads from the folder of the kernel package.
// Their new names begin with a number: the guest loads them in the order of names.
func keepModules(root string) error {
	files := map[string]string{} // paths, by the name of the module
	err := filepath.WalkDir(filepath.Join(root, "usr/lib/modules"), func(path string, _ fs.DirEntry, err error) error {
		if name, is := strings.CutSuffix(filepath.Base(path), ".ko"); is {
			files[moduleName(name)] = path
		}
		return err
	})
	if err != nil {
		return err
	}
	names, err := loadOrder(modules, func(name string) ([]string, error) {
		file, found := files[name]
		if !found {
			return nil, fmt.Errorf("the kernel package has no module %s", name)
		}
		return needsOf(file)
	})
	for i, name := range names {
		if err == nil {
			err = os.Rename(files[name], filepath.Join(root, fmt.Sprintf("modules/%02d-%s.ko", i, name)))
		}
	}
	return err
}

// needsOf returns the names of the modules that the module in a file needs.
func needsOf(file string) ([]string, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	section := f.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("%s has no section .modinfo, so it is no kernel module", file)
	}
	info, err := section.Data()
	return needs(info), err
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

// loadOrder returns the names of the wanted modules and of those that they need, each
// after what it needs itself.
func loadOrder(wanted []string, needs func(name string) ([]string, error)) ([]string, error) {
	var names []string
	seen := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		if seen[name] {
			return nil
		}
		seen[name] = true
		below, err := needs(name)
		if err != nil {
			return err
		}
		for _, n := range below {
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
