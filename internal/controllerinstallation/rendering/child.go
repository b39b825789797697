package rendering

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// command is the first argument of a rendering process. The limits follow it.
const command = "render-chart"

// Exit codes of a process that exceeded a limit. A Go program exits with 2 when it crashes, also for want of memory or stack: its output then
// contains the reason (crash).
const (
	exitCrash  = 2
	exitCPU    = 3
	exitMemory = 4
	exitInput  = 5
	// exitRaceDetector is the exit code that ThreadSanitizer ends a process with, in tests only.
	exitRaceDetector = 66
)

// response is the output of a rendering process. Exactly one of the three fields is set.
type response struct {
	Objects []*unstructured.Unstructured `json:"objects,omitempty"`
	Problem *problem.Problem             `json:"problem,omitempty"`
	// Error is an error that is not the fault of the chart.
	Error string `json:"error,omitempty"`
}

func arguments(limits Limits) []string {
	var arguments []string
	for _, limit := range []int64{int64(limits.CPU), limits.Memory, int64(limits.Objects), int64(limits.Output)} {
		arguments = append(arguments, strconv.FormatInt(limit, 10))
	}
	return append([]string{command}, arguments...)
}

// parse reads the output of arguments. It returns false if the process was not started for rendering.
func parse(args []string) (limits Limits, isChild bool) {
	const count = 6 // the program's name and the command among them
	if len(args) != count || args[1] != command {
		return limits, false
	}
	var numbers [count - 2]int64
	for i, text := range args[2:] {
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return limits, false
		}
		numbers[i] = number
	}
	return Limits{CPU: time.Duration(numbers[0]), Memory: numbers[1], Objects: int(numbers[2]), Output: int(numbers[3])}, true
}

// RunIfChild renders the request on stdin and ends the process, if the process was started for that. A program that uses Renderer calls it first.
func RunIfChild() {
	limits, isChild := parse(os.Args)
	if !isChild {
		return
	}
	if err := limits.apply(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitInput)
	}
	os.Exit(handleRequest(os.Stdin, os.Stdout, limits))
}

// handleRequest responds to one request. The response is written as a whole, after it was found to be within its limits.
func handleRequest(in io.Reader, out io.Writer, limits Limits) int {
	request := &Request{}
	if err := json.NewDecoder(in).Decode(request); err != nil {
		return exitInput
	}
	result := &response{}
	objects, err := render(request)
	found, isProblem := problem.In(err)
	switch {
	case isProblem:
		result.Problem = found
	case err != nil:
		result.Error = err.Error()
	case len(objects) > limits.Objects:
		result.Problem = limitExceeded("gives %d objects, and there may be %d", len(objects), limits.Objects)
	default:
		result.Objects = objects
	}
	content, err := json.Marshal(result)
	if err == nil && (len(content) > limits.Output || elements(content) > maxElements) {
		content, err = json.Marshal(&response{Problem: limitExceeded("gives objects of more than %d MiB, or with more than %d elements", limits.Output>>20, maxElements)})
	}
	if err != nil {
		return exitInput
	}
	if _, err := out.Write(content); err != nil {
		return exitInput
	}
	return 0
}

func elements(content []byte) int {
	return bytes.Count(content, []byte(",")) + bytes.Count(content, []byte("{")) + bytes.Count(content, []byte("["))
}

// apply enforces the limits by the kernel and by a goroutine. The kernel's limits are the last resort: they include memory that is only reserved, and
// the kernel ends the process without a message.
func (l Limits) apply() error {
	debug.SetMemoryLimit(l.Memory / 2)
	if reserved := reservedMemory(); reserved > 0 {
		if err := limit(syscall.RLIMIT_AS, reserved+uint64(2*l.Memory)); err != nil {
			return fmt.Errorf("limiting memory: %w", err)
		}
	}
	if err := limit(syscall.RLIMIT_CPU, uint64(l.CPU/time.Second)+2); err != nil {
		return fmt.Errorf("limiting processor time: %w", err)
	}
	go l.enforce()
	return nil
}

func limit(resource int, value uint64) error {
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: value, Max: value})
}

// reservedMemory returns the size of the process's address space in bytes, or 0 if it is unknown: the runtime reserves far more than it uses.
func reservedMemory() uint64 {
	content, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _, _ := bytes.Cut(content, []byte(" "))
	count, err := strconv.ParseUint(string(pages), 10, 64)
	if err != nil {
		return 0
	}
	return count * uint64(os.Getpagesize())
}

// enforce ends the process when it exceeds a limit, or when its parent has ended.
func (l Limits) enforce() {
	const interval = 10 * time.Millisecond
	inUse := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	for range time.Tick(interval) {
		if processorTime() > l.CPU {
			os.Exit(exitCPU)
		}
		metrics.Read(inUse)
		if inUse[0].Value.Uint64()+inUse[1].Value.Uint64() > uint64(l.Memory) {
			os.Exit(exitMemory)
		}
	}
}

// processorTime returns the processor time that the process has used.
func processorTime() time.Duration {
	usage := syscall.Rusage{}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
