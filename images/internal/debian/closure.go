package debian

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"path"
	"strings"
)

// Closure returns a program, the dynamic linker and all shared libraries that it needs, directly or not, by the paths at which the linker looks for them. An error
// names what no package has.
func (f Files) Closure(program string) (map[string][]byte, error) {
	content, ok := f.read(program)
	if !ok {
		return nil, fmt.Errorf("no package has %s", program)
	}
	closure := map[string][]byte{program: content}
	binary, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", program, err)
	}
	linker, err := interpreter(binary)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", program, err)
	}
	if closure[linker], ok = f.read(linker); !ok {
		return nil, fmt.Errorf("%s needs %s, which no package has", program, linker)
	}
	folder := libraries(binary.Machine)
	return closure, f.addNeeded(closure, folder, program, binary)
}

func (f Files) addNeeded(closure map[string][]byte, folder, name string, binary *elf.File) error {
	needed, err := binary.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("reading what %s needs: %w", name, err)
	}
	for _, library := range needed {
		target := path.Join(folder, library)
		if _, known := closure[target]; known || isLinker(closure, library) {
			continue
		}
		content, ok := f.read(target)
		if !ok {
			return fmt.Errorf("%s needs %s, which no package has", name, library)
		}
		closure[target] = content
		next, err := elf.NewFile(bytes.NewReader(content))
		if err != nil {
			return fmt.Errorf("reading %s: %w", library, err)
		}
		if err := f.addNeeded(closure, folder, library, next); err != nil {
			return err
		}
	}
	return nil
}

// isLinker reports whether a library is the dynamic linker itself, as libraries name it.
func isLinker(closure map[string][]byte, library string) bool {
	for name := range closure {
		if path.Base(name) == library && strings.HasPrefix(library, "ld-linux") {
			return true
		}
	}
	return false
}

func interpreter(binary *elf.File) (string, error) {
	for _, segment := range binary.Progs {
		if segment.Type == elf.PT_INTERP {
			name, err := io.ReadAll(segment.Open())
			return strings.TrimRight(string(name), "\x00"), err
		}
	}
	return "", fmt.Errorf("it names no dynamic linker")
}

// libraries is the folder in which Debian's linker looks for libraries.
func libraries(machine elf.Machine) string {
	if machine == elf.EM_AARCH64 {
		return "/usr/lib/aarch64-linux-gnu"
	}
	return "/usr/lib/x86_64-linux-gnu"
}

// Copyright returns the text with the licenses of a package.
func (f Files) Copyright(name string) (where string, content []byte, found bool) {
	where = "/usr/share/doc/" + name + "/copyright"
	content, found = f.read(where)
	return where, content, found
}
