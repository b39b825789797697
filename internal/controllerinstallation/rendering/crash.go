package rendering

import (
	"regexp"
	"strconv"
	"strings"
)

// maxCrash is how many bytes are read of the output of a crashed process. The reason comes first, stack traces of all goroutines after it.
const maxCrash = 1 << 10

// outOfMemory is the message of the Go runtime when it gets no more memory (runtime/mheap.go).
var outOfMemory = regexp.MustCompile(`out of memory: cannot allocate (\d+)-byte block \((\d+) in use\)`)

// crash is the error of a process that the Go runtime has ended. text is the beginning of its output.
type crash struct {
	text      string
	resources map[string]any
}

// Error implements error. It quotes no resources and no truncated line.
func (c *crash) Error() string {
	line, _, isWhole := strings.Cut(strings.TrimSpace(c.text), "\n")
	if !isWhole {
		return "it crashed"
	}
	return "it crashed: " + redact(line, c.resources)
}

// exceedsMemory reports whether the process exceeded its memory or stack. A machine that is out of threads or memory, and a bug in Helm, crash it as
// well.
func (c *crash) exceedsMemory(memory int64) bool {
	// The last two are messages of the race detector, which tests run with: a heap beyond the limit then has no address left.
	for _, text := range []string{
		"goroutine stack exceeds", "stack overflow", "address space collisions for -race mode", "ThreadSanitizer failed to allocate",
	} {
		if strings.Contains(c.text, text) {
			return true
		}
	}
	numbers := outOfMemory.FindStringSubmatch(c.text)
	if numbers == nil {
		return false
	}
	requested, err := strconv.ParseUint(numbers[1], 10, 63)
	inUse, other := strconv.ParseUint(numbers[2], 10, 63)
	return err == nil && other == nil && requested+inUse >= uint64(memory)
}

// prefixBuffer accepts all input and keeps the first bytes up to its size.
type prefixBuffer struct {
	content  []byte
	capacity int
}

// Write implements io.Writer.
func (b *prefixBuffer) Write(content []byte) (int, error) {
	n := min(len(content), b.capacity)
	b.content, b.capacity = append(b.content, content[:n]...), b.capacity-n
	return len(content), nil
}
