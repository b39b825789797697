package landscape

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
)

// program is a program that may have to be built.
type program struct {
	name  string
	build func(context.Context) error
}

// thirdParty returns programs that package assets provides.
func thirdParty(names ...string) []program {
	var all []program
	for _, name := range names {
		all = append(all, program{name: name, build: func(ctx context.Context) error {
			_, err := assets.Ensure(ctx, io.Discard, name)
			return err
		}})
	}
	return all
}

// minBuildTime is how long a build takes that is worth a line. Programs that are up to date take less.
const minBuildTime = 2 * time.Second

// builds are builds of programs in the background, one after another, since each uses all processors.
type builds struct {
	programs []program
	cancel   context.CancelFunc
	ended    chan struct{}
	err      error // once ended is closed

	changed *sync.Cond
	lines   []string // about the builds that have ended
	done    int
}

// startBuilds starts to build programs. The caller stops the builds.
func startBuilds(ctx context.Context, programs []program) *builds {
	ctx, cancel := context.WithCancel(ctx)
	b := &builds{programs: programs, cancel: cancel, ended: make(chan struct{}), changed: sync.NewCond(&sync.Mutex{})}
	go b.run(ctx)
	return b
}

func (b *builds) run(ctx context.Context) {
	defer close(b.ended)
	for i, p := range b.programs {
		start := time.Now()
		if err := p.build(ctx); err != nil {
			b.err = err
			b.end("", len(b.programs))
			return
		}
		line := ""
		if took := time.Since(start); took >= minBuildTime {
			line = fmt.Sprintf("%s: %.0f s; %s left", p.name, took.Seconds(), count(len(b.programs)-i-1))
		}
		b.end(line, i+1)
	}
}

// end notes the end of a build.
func (b *builds) end(line string, done int) {
	b.changed.L.Lock()
	defer b.changed.L.Unlock()
	if line != "" {
		b.lines = append(b.lines, line)
	}
	b.done = done
	b.changed.Broadcast()
}

// wait waits for all builds, and writes a line to progress for each that has ended and for what is left.
func (b *builds) wait(progress io.Writer) error {
	b.changed.L.Lock()
	defer b.changed.L.Unlock()
	if left := len(b.programs) - b.done; left > 0 {
		_, _ = fmt.Fprintf(progress, "%s left to build, %s first\n", count(left), b.programs[b.done].name)
	}
	for shown := 0; ; {
		for ; shown < len(b.lines); shown++ {
			_, _ = fmt.Fprintln(progress, b.lines[shown])
		}
		if b.done == len(b.programs) {
			<-b.ended
			return b.err
		}
		b.changed.Wait()
	}
}

// stop ends the builds and waits for that.
func (b *builds) stop() {
	b.cancel()
	<-b.ended
}

func count(programs int) string {
	if programs == 1 {
		return "1 program"
	}
	return fmt.Sprintf("%d programs", programs)
}
