package process

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTick is the resolution of processor times that Linux reports to all programs (USER_HZ).
const clockTick = 10 * time.Millisecond

// CPU reads the processor time that the process has used, in the resolution of the kernel's accounting: 10 ms.
func (p *Process) CPU() (time.Duration, error) { return CPUOf(p.PID()) }

// CPUOf reads the processor time of a process from the kernel (Linux only, /proc/<pid>/stat).
func CPUOf(pid int) (time.Duration, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of process %d: %w", pid, err)
	}
	return parseCPU(string(content))
}

// parseCPU adds the times in user and in kernel mode: fields 14 and 15. The name of the program, field 2, may contain spaces and
// parentheses.
func parseCPU(stat string) (time.Duration, error) {
	const afterName, user, system = 3, 14, 15
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) <= system-afterName {
		return 0, fmt.Errorf("%q has no processor times", stat)
	}
	var ticks int64
	for _, field := range []int{user, system} {
		n, err := strconv.ParseInt(fields[field-afterName], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("parsing the processor times of %q: %w", stat, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

// Waits returns how often the threads of the process have begun to wait, which is about how often it was woken up (Linux only, /proc/<pid>/task).
func (p *Process) Waits() (int64, error) { return WaitsOf(p.PID()) }

// WaitsOf reads how often the threads of a process have begun to wait. Those of threads that have ended are not counted.
func WaitsOf(pid int) (int64, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("finding the threads of process %d: %w", pid, cmp.Or(err, os.ErrNotExist))
	}
	var sum int64
	for _, thread := range threads {
		content, err := os.ReadFile(thread)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has ended
		}
		if err != nil {
			return 0, fmt.Errorf("reading the waits of process %d: %w", pid, err)
		}
		waits, err := parseWaits(string(content))
		if err != nil {
			return 0, err
		}
		sum += waits
	}
	return sum, nil
}

func parseWaits(status string) (int64, error) {
	const name = "\nvoluntary_ctxt_switches:"
	_, value, found := strings.Cut(status, name)
	if !found {
		return 0, fmt.Errorf("%q has no voluntary context switches", status)
	}
	value, _, _ = strings.Cut(value, "\n")
	waits, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parsing the voluntary context switches of %q: %w", status, err)
	}
	return waits, nil
}
