package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
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
