//go:build !linux

package isolation

import "errors"

var errLinux = errors.New("a network, mounts and a process tree of its own take Linux")

// Check tells why this machine cannot isolate a program.
func Check() error { return errLinux }

// Run fails.
func Run() (int, error) { return 0, errLinux }

func runFirst(Network) int { return 1 }
