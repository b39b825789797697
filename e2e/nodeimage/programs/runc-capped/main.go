// Command runc-capped stands in for runc where root has not all rights that containers ask for.
//
// A privileged container asks for every capability that the kernel knows. Where root lacks one, such as CAP_SYS_RESOURCE in a
// virtual machine or container that is kept small, giving it away fails, and no such container starts. This program takes from
// what runc is told the rights that its own process has not got: capabilities, a protection from the kernel's killer of processes
// better than its own, and limits above its own. Then it becomes runc: the program that the environment variable RUNC names, or
// the runc in the usual places.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	args := os.Args[1:]
	if file, isBundle := configOf(args); file != "" {
		if err := edit(file, isBundle, ownRights()); err != nil {
			fmt.Fprintln(os.Stderr, "runc-capped:", err) // runc may still be content
		}
	}
	runc, err := findRunc()
	if err == nil {
		err = syscall.Exec(runc, append([]string{"runc"}, args...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "runc-capped: starting runc:", err)
	os.Exit(1)
}

func findRunc() (string, error) {
	candidates := []string{"/usr/sbin/runc", "/usr/bin/runc", "/usr/local/sbin/runc", "/usr/local/bin/runc"}
	if own := os.Getenv("RUNC"); own != "" {
		candidates = []string{own}
	}
	for _, candidate := range candidates {
		if _, err := os.Stat(candidate); err == nil {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("none of %s is there; name it in the environment variable RUNC", strings.Join(candidates, ", "))
}

// configOf returns the file that tells runc what to start, or nothing where the command starts nothing. Of a bundle it is the
// configuration of a container, otherwise of a process alone.
func configOf(args []string) (file string, isBundle bool) {
	for i, arg := range args {
		switch arg {
		case "create", "run", "restore":
			return filepath.Join(flagOf(args[i:], "--bundle", "-b"), "config.json"), true // by default in the working directory
		case "exec":
			return flagOf(args[i:], "--process", "-p"), false
		}
	}
	return "", false
}

func flagOf(args []string, names ...string) string {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(names, name):
		case joined:
			return value
		case i+1 < len(args):
			return args[i+1]
		}
	}
	return ""
}

// edit caps the rights that a configuration asks for.
func edit(file string, isBundle bool, own rights) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber() // what is not changed stays as it is
	var config map[string]any
	if err := decoder.Decode(&config); err != nil {
		return fmt.Errorf("decoding %s: %w", file, err)
	}
	process := config
	if isBundle {
		process, _ = config["process"].(map[string]any)
	}
	own.limit(process)
	if content, err = json.Marshal(config); err != nil {
		return fmt.Errorf("encoding %s: %w", file, err)
	}
	return os.WriteFile(file, content, 0o600)
}
