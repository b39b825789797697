package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Live is what a process keeps: what grows when something is never released.
type Live struct {
	// Heap is the heap in bytes that is left after a garbage collection.
	Heap int64
	// Goroutines is their number.
	Goroutines int64
}

// Live collects the replica's garbage, and reads what is left. Its profiles must be served.
func (r *Replica) Live(ctx context.Context) (Live, error) {
	var live Live
	var err error
	// The first collection finds what finalizers still hold, and pools are emptied by the second one.
	for range 2 {
		if live.Heap, err = r.profile(ctx, "/heap?gc=1&debug=1", "# HeapAlloc = "); err != nil {
			return Live{}, err
		}
	}
	live.Goroutines, err = r.profile(ctx, "/goroutine?debug=1", "goroutine profile: total ")
	return live, err
}

// profile returns the number after a prefix in a profile in text form.
func (r *Replica) profile(ctx context.Context, path, prefix string) (int64, error) {
	body, err := get(ctx, r.ProfilesURL+path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }()
	return findNumber(body, prefix)
}

func findNumber(text io.Reader, prefix string) (int64, error) {
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), prefix); found {
			return strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("the profile has no line %q", prefix)
}
