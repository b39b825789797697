//go:build !linux

package process

import "syscall"

// attributes put the process into a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
