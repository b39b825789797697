package rendering

import (
	"regexp"
	"strconv"
	"strings"
)

// maxCrash is how much is read of what a process writes that crashes. Why it does comes first, and traces of all goroutines after it.
const maxCrash = 1 << 10

// outOfMemory is what the runtime of Go writes when it gets no more memory (runtime/mheap.go).
var outOfMemory = regexp.MustCompile(`out of memory: cannot allocate (\d+)-byte block \((\d+) in use\)`)

// crash is the error of a process that Go has ended. text is the beginning of what it wrote.
type crash struct {
	text      string
	resources map[string]any
}

// Error implements error. It quotes no resources, and nothing of a line that is not there as a whole.
func (c *crash) Error() string {
	line, _, isWhole := strings.Cut(strings.TrimSpace(c.text), "\n")
	if !isWhole {
		return "it crashed"
	}
	return "it crashed: " + redact(line, c.resources)
}

// exceedsMemory reports whether the process went beyond its memory, or too deep. A machine without threads or memory to give, and a fault in Helm, crash it
// as well.
func (c *crash) exceedsMemory(memory int64) bool {
	// The last two are the race detector's: with it, as tests run, a heap beyond the limit has no address left.
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

// prefixBuffer takes everything and keeps as much as there is room for.
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
