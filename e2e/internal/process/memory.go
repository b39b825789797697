package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is the memory of a process in RAM, in bytes.
type Memory struct {
	// All is the resident set, including the pages of the program file that other processes of the same file share.
	All int64
	// Private is anonymous memory (heap, stacks, changed data): what a second process of the program costs.
	Private int64
}

// Memory reads the process's memory from the kernel.
func (p *Process) Memory() (Memory, error) { return MemoryOf(p.PID()) }

// MemoryOf reads the memory of a process from the kernel (Linux only, /proc/<pid>/smaps_rollup).
func MemoryOf(pid int) (Memory, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return Memory{}, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	return parseMemory(string(content))
}

func parseMemory(rollup string) (Memory, error) {
	values := map[string]int64{}
	for line := range strings.Lines(rollup) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[2] != "kB" {
			continue
		}
		kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return Memory{}, fmt.Errorf("parsing %q: %w", line, err)
		}
		values[strings.TrimSuffix(fields[0], ":")] = kilobytes * 1024
	}
	all, found := values["Rss"]
	if !found {
		return Memory{}, fmt.Errorf("no Rss in %q", rollup)
	}
	return Memory{All: all, Private: values["Anonymous"]}, nil
}
