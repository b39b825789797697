package gardener

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

const (
	// endTimeout is how long a program may take to end before it is killed. gardener-apiserver would wait a minute for its watches; nothing is lost.
	endTimeout = 5 * time.Second
	// shownLines is how many lines of the output of a program are shown that has ended.
	shownLines = 20
)

// processes are programs that must run until they are stopped.
type processes struct {
	mutex   sync.Mutex
	stopped bool
	all     []named
}

type named struct {
	name string
	*process.Process
}

func (p *processes) add(name string, started *process.Process) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.all = append(p.all, named{name: name, Process: started})
}

// stop stops all programs, the last one first.
func (p *processes) stop(ctx context.Context) {
	p.mutex.Lock()
	p.stopped = true
	all := slices.Clone(p.all)
	p.mutex.Unlock()
	for _, one := range slices.Backward(all) {
		ending, cancel := context.WithTimeout(ctx, endTimeout)
		one.End(ending)
		cancel()
	}
}

// stopNamed stops the programs of a name.
func (p *processes) stopNamed(ctx context.Context, name string) {
	p.mutex.Lock()
	var found processes
	p.all = slices.DeleteFunc(p.all, func(one named) bool {
		if one.name == name {
			found.all = append(found.all, one)
		}
		return one.name == name
	})
	p.mutex.Unlock()
	found.stop(ctx)
}

// ended returns an error about a program that has ended by itself.
func (p *processes) ended() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.stopped {
		return nil
	}
	for _, one := range p.all {
		select {
		case <-one.Exited():
			output, _ := one.Output()
			lines := strings.Split(strings.TrimSpace(output), "\n")
			return fmt.Errorf("%s has ended by itself:\n%s", one.name, strings.Join(lines[max(0, len(lines)-shownLines):], "\n"))
		default:
		}
	}
	return nil
}
