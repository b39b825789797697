package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// usage is the memory of all processes of a program.
type programMemory struct {
	name      string
	processes int
	bytes     int64
}

// printMemory prints the memory of all processes of the landscape, which are all that there are in this process tree.
func (l *landscape) printMemory() error {
	all, err := readMemory()
	if err != nil {
		return err
	}
	var total int64
	var parts []string
	for _, one := range all {
		total += one.bytes
		if one.bytes > 40<<20 {
			parts = append(parts, fmt.Sprintf("%s %d MiB", one.name, one.bytes>>20))
		}
	}
	l.report.Linef("memory: %d MiB; %s", total>>20, strings.Join(parts, ", "))
	return nil
}

// readMemory reads the memory of all processes by program, the largest first.
func readMemory() ([]programMemory, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	byName := map[string]*programMemory{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		memory, err := process.MemoryOf(pid)
		if err != nil {
			continue // it has ended
		}
		command, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil {
			continue
		}
		path, _, _ := strings.Cut(string(command), "\x00")
		name := filepath.Base(path)
		if byName[name] == nil {
			byName[name] = &programMemory{name: name}
		}
		byName[name].processes++
		byName[name].bytes += memory.All
	}
	var all []programMemory
	for _, one := range byName {
		if one.processes > 1 {
			one.name = fmt.Sprintf("%d %s", one.processes, one.name)
		}
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b programMemory) int { return int(b.bytes - a.bytes) })
	return all, nil
}
