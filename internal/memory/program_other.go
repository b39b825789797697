//go:build !linux

package memory

// program is only known in Linux.
type program struct{}

func readProgram() program { return program{} }

func (program) unmap() {}
