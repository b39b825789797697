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

	// maxConcurrentRenders is how many rendering processes run at the same time.
	maxConcurrentRenders = 2
	// Results are cached, zipped: the same input has the same result, and each installation is checked every half minute. Failures are cached for a
	// shorter time. The cache takes an eighth of the memory limit of the operator in the garden; a quarter is for the rendering processes. A chart
	// like those of this repository takes some 6 KiB, so the cache is large enough for 40,000 installations.
	maxCacheSize        = 256 << 20
	maxCachedResultSize = 256 << 10
	cacheTTL            = 24 * time.Hour
	problemCacheTTL     = 10 * time.Minute
	// waitDelay is how long the renderer waits for output after it ended a process.
	waitDelay = 5 * time.Second
)

// Renderer renders charts in child processes of this program, which must call RunIfChild first. It is safe for concurrent use.
type Renderer struct {
	program string
	limits  Limits
	slots   chan struct{}
	cache   *resultCache
}

// New returns a Renderer. It fails if the path of the program's own file is unknown.
func New(limits Limits) (*Renderer, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the program that renders charts: %w", err)
	}
	return &Renderer{
		program: program, limits: limits.withDefaults(), slots: make(chan struct{}, maxConcurrentRenders), cache: newResultCache(cacheCapacity(containerMemory())),
	}, nil
}

// cacheCapacity returns the size of the cache in bytes for a container with that memory limit; 0 is no limit.
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
		// The child processes share the container's memory with this one. Beyond the limit, the kernel would end all of them.
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

// containerMemory returns the container's memory limit in bytes, or 0 if there is none.
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

// Render returns the objects of a chart as chart.Render does, with the same errors, and a problem.Problem (ChartCannotBeRendered) if rendering
// exceeds a limit. Faults of the machine or of Helm, such as a process that could not be started, got no processor time, or crashed, are ordinary
// errors. They are not cached: the next call tries again.
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

// run passes the input to a new process and returns its output. No error quotes resources.
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
	// The environment of this process is not passed on, since it may contain credentials.
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

// explain distinguishes faults of the chart from faults of the machine.
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

// read decodes the output of a process.
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

// limitedBuffer accepts input up to its size and fails beyond it.
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
