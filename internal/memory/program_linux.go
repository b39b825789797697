package memory

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// program are the parts of the running program in memory that are as in its file: code and constants.
type program []addresses

// addresses are those of one mapping. end is the first one after it.
type addresses struct{ start, end uint64 }

// readProgram returns nothing if the kernel does not tell.
func readProgram() program {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	mappings, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer func() { _ = mappings.Close() }()
	return programIn(mappings, path)
}

// programIn reads the mappings of a process in the format of /proc/[pid]/smaps. Those that have been written to are left out, although they may be read-only
// now: by a dynamic linker, or by a debugger or a tracer that has set a breakpoint meanwhile.
func programIn(mappings io.Reader, path string) program {
	var parts program
	var current addresses
	isProgram := false
	for lines := bufio.NewScanner(mappings); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 6 && !strings.HasSuffix(fields[0], ":"):
			var isRange bool
			current, isRange = parseAddresses(fields[0])
			isProgram = isRange && strings.HasPrefix(fields[1], "r-") && fields[5] == path
		case isProgram && fields[0] == "Anonymous:" && fields[1] == "0":
			parts = append(parts, current)
		}
	}
	return parts
}

func parseAddresses(text string) (addresses, bool) {
	const hexadecimal, bits = 16, 64
	before, after, _ := strings.Cut(text, "-")
	start, noStart := strconv.ParseUint(before, hexadecimal, bits)
	end, noEnd := strconv.ParseUint(after, hexadecimal, bits)
	return addresses{start, end}, noStart == nil && noEnd == nil
}

// unmap removes the program from the process's resident memory.
func (p program) unmap() {
	for _, part := range p {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(part.start), uintptr(part.end-part.start), syscall.MADV_DONTNEED) // that it fails does no harm
	}
}
