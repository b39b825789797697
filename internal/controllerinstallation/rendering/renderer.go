package rendering

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

const (
	defaultCPU     = 10 * time.Second
	defaultWait    = time.Minute
	defaultMemory  = 256 << 20
	minMemory      = 64 << 20
	defaultObjects = 2000
	defaultOutput  = 8 << 20

	// maxConcurrentRenders is how many processes render at the same time.
	maxConcurrentRenders = 2
	// What was rendered is kept, zipped: nothing of it changes while its input is the same, and each installation is looked at every half minute. What
	// cannot be rendered is not tried again all the time either. This is an eighth of the memory that the operator in the garden has; a quarter is for
	// those who render. A chart like ours takes some 6 KiB, so it is enough for 40,000 installations.
	maxCacheSize        = 256 << 20
	maxCachedResultSize = 256 << 10
	cacheTTL            = 24 * time.Hour
	problemCacheTTL     = 10 * time.Minute
	// waitDelay is how long output is waited for after a process was ended.
	waitDelay = 5 * time.Second
)

// Renderer renders charts in processes of this program, which must begin with RunIfChild. It may be used by many at once.
type Renderer struct {
	program string
	limits  Limits
	slots   chan struct{}
	cache   *resultCache
}

// New returns a Renderer. It fails where the program doesn't know its own file.
func New(limits Limits) (*Renderer, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the program that renders charts: %w", err)
	}
	return &Renderer{
		program: program, limits: limits.withDefaults(), slots: make(chan struct{}, maxConcurrentRenders), cache: newResultCache(cacheCapacity(containerMemory())),
	}, nil
}

// cacheCapacity is how much of what was rendered is kept in a container with that limit, 0 where there is none.
func cacheCapacity(container int64) int {
	const part = 8
	if container == 0 {
		return maxCacheSize
	}
	return int(min(maxCacheSize, container/part))
}

func (l Limits) withDefaults() Limits {
	if l.CPU == 0 {
		l.CPU = defaultCPU
	}
	if l.Wait == 0 {
		l.Wait = defaultWait
	}
	if l.Memory == 0 {
		l.Memory = defaultMemory
		// The processes and this one share what the container has. The kernel would end all of them.
		if container := containerMemory(); container > 0 {
			l.Memory = max(min(l.Memory, container/(2*maxConcurrentRenders)), minMemory)
		}
	}
	if l.Objects == 0 {
		l.Objects = defaultObjects
	}
	if l.Output == 0 {
		l.Output = defaultOutput
	}
	return l
}

// containerMemory is the limit of the container, 0 where there is none.
func containerMemory() int64 {
	content, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
	if err != nil {
		return 0 // "max"
	}
	return limit
}

// Render returns the objects of a chart as chart.Render does, with the same errors; besides, a problem.Problem (ChartCannotBeRendered) where rendering
// goes beyond a limit. What the machine or Helm is to blame for, such as a process that could not be started, had no time to run, or crashed, is an
// ordinary error, and tried again with the next call.
func (r *Renderer) Render(ctx context.Context, request *Request) ([]*unstructured.Unstructured, error) {
	input, err := json.Marshal(request)
	if err != nil {
		return nil, problem.New(problem.ValuesInvalid, fmt.Sprintf("values are no JSON: %v", err))
	}
	key := sha256.Sum256(input)
	if zipped := r.cache.get(key); zipped != nil {
		if output, err := unzip(zipped); err == nil {
			return read(output)
		}
	}
	output, err := r.run(ctx, input, request.Resources)
	if found, is := problem.In(err); is {
		if output, err = json.Marshal(&response{Problem: found}); err != nil {
			return nil, found
		}
	}
	if err != nil {
		return nil, err
	}
	objects, err := read(output)
	_, isProblem := problem.In(err)
	switch zipped := zip(output); {
	case len(zipped) > maxCachedResultSize:
	case isProblem:
		r.cache.add(key, zipped, problemCacheTTL)
	case err == nil:
		r.cache.add(key, zipped, cacheTTL)
	}
	return objects, err
}

// run gives the input to a new process and returns what it writes. No error quotes resources.
func (r *Renderer) run(ctx context.Context, input []byte, resources map[string]any) ([]byte, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to render the chart: %w", ctx.Err())
	}
	ctx, cancel := context.WithTimeout(ctx, r.limits.Wait)
	defer cancel()
	child := exec.CommandContext(ctx, r.program, arguments(r.limits)...) //nolint:gosec // it is this program, with numbers
	// Nothing of this process's surroundings: there may be credentials among it.
	child.Env, child.Dir = []string{"GOMAXPROCS=2"}, "/"
	child.Stdin, child.WaitDelay = bytes.NewReader(input), waitDelay
	output := &limitedBuffer{left: r.limits.Output}
	stderr := &prefixBuffer{capacity: maxCrash}
	child.Stdout, child.Stderr = output, stderr
	err := child.Run()
	if output.left < 0 {
		return nil, fmt.Errorf("rendering the chart: the process writes more than %d bytes", r.limits.Output)
	}
	if err == nil {
		return output.Bytes(), nil
	}
	if code := child.ProcessState.ExitCode(); code == exitCrash || code == exitRaceDetector {
		err = &crash{text: string(stderr.content), resources: resources}
	}
	return nil, r.explain(ctx, child.ProcessState, err)
}

// explain tells what the chart is to blame for from what the machine is.
func (r *Renderer) explain(ctx context.Context, state *os.ProcessState, err error) error {
	if state == nil {
		return fmt.Errorf("starting a process that renders the chart: %w", err)
	}
	crashed, isCrash := errors.AsType[*crash](err)
	switch code := state.ExitCode(); {
	case code == exitCPU, state.UserTime()+state.SystemTime() >= r.limits.CPU:
		return limitExceeded("takes more than %s of processor time", r.limits.CPU)
	case code == exitMemory, isCrash && crashed.exceedsMemory(r.limits.Memory):
		return limitExceeded("takes more than %d MiB of memory, or goes too deep", r.limits.Memory>>20)
	case ctx.Err() != nil:
		return fmt.Errorf("rendering the chart: no result in time: %w", ctx.Err())
	}
	return fmt.Errorf("rendering the chart in a process of its own: %w", err)
}

// read decodes what a process has written.
func read(output []byte) ([]*unstructured.Unstructured, error) {
	var decoded struct {
		Objects []map[string]any `json:"objects"`
		Problem *problem.Problem `json:"problem"`
		Error   string           `json:"error"`
	}
	if err := utiljson.Unmarshal(output, &decoded); err != nil {
		return nil, fmt.Errorf("reading the rendered chart: %w", err)
	}
	switch {
	case decoded.Problem != nil:
		return nil, decoded.Problem
	case decoded.Error != "":
		return nil, errors.New(decoded.Error)
	}
	var objects []*unstructured.Unstructured
	for _, object := range decoded.Objects {
		objects = append(objects, &unstructured.Unstructured{Object: object})
	}
	return objects, nil
}

// limitedBuffer takes so much and no more.
type limitedBuffer struct {
	bytes.Buffer
	left int
}

var errFull = errors.New("too much output")

// Write implements io.Writer.
func (b *limitedBuffer) Write(content []byte) (int, error) {
	if b.left -= len(content); b.left < 0 {
		return 0, errFull
	}
	return b.Buffer.Write(content)
}

func zip(content []byte) []byte {
	var into bytes.Buffer
	zipper := gzip.NewWriter(&into)
	_, _ = zipper.Write(content) // a buffer takes everything
	_ = zipper.Close()
	return into.Bytes()
}

func unzip(content []byte) ([]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(zipped)
}
