package stack

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// identity identifies a process, also if a later one gets the same number.
type identity struct {
	pid   int
	start uint64 // when the process began, in clock ticks since the machine did
}

// bootID identifies the boot of the machine and the PID namespace, in which a process number and its start time are unique.
func bootID() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("asking which boot this is: %w", err)
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", fmt.Errorf("asking whose process numbers these are: %w", err)
	}
	return strings.TrimSpace(string(boot)) + "/" + namespace, nil
}

// status is a process's line in /proc.
type status struct {
	identity
	parent, session int
	dead            bool // ended, but its parent hasn't looked yet
}

// statusOf reads the status of a process (man 5 proc, /proc/pid/stat).
func statusOf(pid int) (status, error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return status{}, err
	}
	return parseStatus(string(line))
}

func parseStatus(line string) (status, error) {
	// The name of the program is in parentheses and may contain any character.
	open, closing := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || closing < open {
		return status{}, fmt.Errorf("no name of a program in %q", line)
	}
	fields := strings.Fields(line[closing+1:])
	const state, parent, session, start = 0, 1, 3, 19
	if len(fields) <= start {
		return status{}, fmt.Errorf("too few fields in %q", line)
	}
	pid, err1 := strconv.Atoi(strings.TrimSpace(line[:open]))
	above, err2 := strconv.Atoi(fields[parent])
	sid, err3 := strconv.Atoi(fields[session])
	began, err4 := strconv.ParseUint(fields[start], 10, 64)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return status{}, fmt.Errorf("parsing %q: %w", line, err)
	}
	return status{identity{pid, began}, above, sid, fields[state] == "Z" || fields[state] == "X"}, nil
}

// processes lists all processes of the machine. Those that end meanwhile are left out.
func processes() []status {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []status
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, err := statusOf(pid); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// isAlive reports whether the process still runs.
func (i identity) isAlive() bool {
	s, err := statusOf(i.pid)
	return err == nil && s.identity == i && !s.dead
}

// withAncestors returns the numbers of a process and of all its ancestors.
func withAncestors(pid int) map[int]bool {
	line := map[int]bool{}
	for pid > 0 && !line[pid] {
		line[pid] = true
		s, err := statusOf(pid)
		if err != nil {
			break
		}
		pid = s.parent
	}
	return line
}
