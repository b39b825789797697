package idle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

const megabyte = 1_000_000

// The budgets are for the anonymous memory of all four processes together, in bytes. They are a twentieth more than what was measured: which parts of the
// heap are free, but not free to be given back, differs between runs of the same program.
const (
	budgetEmpty      = 35 * megabyte
	budgetWithShoots = 50 * megabyte
)

// collectionInterval is longer than the time between two garbage collections of a Go process, which is two minutes at most, and also than the time between
// two occasions on which the processes give memory back.
const collectionInterval = 3 * time.Minute

// assertMemory asserts that the processes together need no more than a budget. What waits for the next garbage collection is not needed: of each process the
// least counts until a collection has certainly taken place. A process that keeps what it does not need fails however long it is waited for.
func assertMemory(t *testing.T, when string, processes []*controller.Controller, budget int64) {
	t.Helper()
	start := time.Now()
	least, most := make([]int64, len(processes)), int64(0)
	for {
		now := readEach(t, processes, memoryOf)
		most = max(most, sum(now))
		for i := range now {
			if least[i] == 0 || now[i] < least[i] {
				least[i] = now[i]
			}
		}
		if sum(least) <= budget || time.Since(start) > collectionInterval {
			break
		}
		time.Sleep(time.Second)
	}
	t.Logf("%s: %.1f MB anonymous at least, %.1f at most, after %.0f s; of each process %s",
		when, inMB(sum(least)), inMB(most), time.Since(start).Seconds(), listInMB(least))
	assert.LessOrEqual(t, sum(least), budget, "%s: bytes of anonymous memory, of each process %s MB", when, listInMB(least))
}

// memoryOf returns the anonymous memory of a process.
func memoryOf(p *controller.Controller) (int64, error) {
	memory, err := p.Memory()
	return memory.Private, err
}

func sum(all []int64) (total int64) {
	for _, n := range all {
		total += n
	}
	return total
}

func inMB(bytes int64) float64 { return float64(bytes) / megabyte }

func listInMB(all []int64) string {
	parts := make([]string, 0, len(all))
	for _, n := range all {
		parts = append(parts, fmt.Sprintf("%.1f", inMB(n)))
	}
	return strings.Join(parts, " + ")
}
