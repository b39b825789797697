package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// responseTimes are how long the binary took, one by one, for reviews of a kind.
type responseTimes struct {
	request string
	times   []time.Duration
	wall    time.Duration
	peak    process.Memory // while it was asked
}

// measure asks every webhook, and prints what it took.
func (b *admissionBench) measure(ctx context.Context) error {
	endpoints, err := b.endpoints(ctx)
	if err != nil {
		return err
	}
	info, err := os.Stat(b.binary)
	if err != nil {
		return err
	}
	var idle, after process.Memory
	err = b.screen.Step("at rest", func(io.Writer) (_ string, err error) {
		idle, err = b.settledMemory(ctx)
		return "memory of the process", err
	})
	if err != nil {
		return err
	}
	var all []responseTimes
	for _, endpoint := range endpoints {
		for _, kind := range reviewsOf() {
			err := b.screen.Step(endpoint.name, func(io.Writer) (string, error) {
				measured, err := b.call(ctx, endpoint, kind)
				measured.request = endpoint.name + ", " + kind.name
				all = append(all, measured)
				return fmt.Sprintf("%d times: %s", kind.times, kind.name), err
			})
			if err != nil {
				return err
			}
		}
	}
	if after, err = b.settledMemory(ctx); err != nil {
		return err
	}
	b.screen.Heading(fmt.Sprintf("%d reviews each, %d at a time, or %d one by one", reviews, atOnce, fewer))
	for _, line := range append(responseTable(all), admissionFootprint(info.Size(), idle, peakOf(all), after)...) {
		b.screen.Linef("  %s", line)
	}
	return nil
}

// settledMemory lets the process come to rest before it looks.
func (b *admissionBench) settledMemory(ctx context.Context) (process.Memory, error) {
	select {
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
		return process.Memory{}, ctx.Err()
	}
	return b.process.Memory()
}

// call sends the same review again and again. Each has to get the answer that is meant.
func (b *admissionBench) call(ctx context.Context, where endpoint, what reviewed) (responseTimes, error) {
	body, err := json.Marshal(what.review)
	if err != nil {
		return responseTimes{}, err
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(where.ca)
	// As an API server does it: HTTP/2, so that all share a connection.
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	asking := &http.Client{Transport: transport}
	if err := callOnce(ctx, asking, where.url, body, what.refusedBy != where.name); err != nil { // whoever connects first takes longer
		return responseTimes{}, err
	}
	result := responseTimes{times: make([]time.Duration, what.times)}
	peakMemory := b.watchMemory(ctx)
	var (
		next    atomic.Int64
		workers errgroup.Group
		start   = time.Now()
	)
	for range what.atOnce {
		workers.Go(func() error {
			for i := next.Add(1) - 1; i < int64(what.times); i = next.Add(1) - 1 {
				began := time.Now()
				if err := callOnce(ctx, asking, where.url, body, what.refusedBy != where.name); err != nil {
					return err
				}
				result.times[i] = time.Since(began)
			}
			return nil
		})
	}
	err = workers.Wait()
	result.wall, result.peak = time.Since(start), peakMemory()
	return result, err
}

func callOnce(ctx context.Context, httpClient *http.Client, url string, body []byte, allowed bool) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := httpClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	defer func() { _ = response.Body.Close() }()
	reviewResponse := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(response.Body).Decode(reviewResponse); err != nil {
		return fmt.Errorf("reading the answer of %s (%s): %w", url, response.Status, err)
	}
	switch {
	case reviewResponse.Response == nil:
		return errors.New("an answer without a response")
	case reviewResponse.Response.Allowed != allowed:
		return fmt.Errorf("the Shoot is refused, or should be: %+v", reviewResponse.Response.Result)
	default:
		return nil
	}
}

// watchMemory looks at the memory of the process until the function that it returns is called, which tells the most of it.
func (b *admissionBench) watchMemory(ctx context.Context) func() process.Memory {
	ctx, cancel := context.WithCancel(ctx)
	var most process.Memory
	var sampling sync.WaitGroup
	sampling.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			if now, err := b.process.Memory(); err == nil {
				most = larger(most, now)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				tick.Stop()
				return
			}
		}
	})
	return func() process.Memory {
		cancel()
		sampling.Wait()
		return most
	}
}

func larger(a, b process.Memory) process.Memory {
	return process.Memory{All: max(a.All, b.All), Private: max(a.Private, b.Private)}
}

func peakOf(all []responseTimes) process.Memory {
	var most process.Memory
	for _, one := range all {
		most = larger(most, one.peak)
	}
	return most
}

// percentile returns the time within which so many of a hundred answers came.
func percentile(times []time.Duration, percent int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}

func responseTable(all []responseTimes) []string {
	const layout = "%-50s %9s %9s %9s %10s"
	inMilliseconds := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	lines := []string{fmt.Sprintf(layout, "", "p50", "p99", "longest", "in one s")}
	for _, one := range all {
		lines = append(lines, fmt.Sprintf(layout, one.request, inMilliseconds(percentile(one.times, 50)), inMilliseconds(percentile(one.times, 99)),
			inMilliseconds(percentile(one.times, 100)), fmt.Sprintf("%.0f", float64(len(one.times))/one.wall.Seconds())))
	}
	return lines
}

func admissionFootprint(binary int64, idle, busy, after process.Memory) []string {
	const layout = "%-50s %9s %9s"
	inMegabytes := func(bytes int64) string { return fmt.Sprintf("%d MB", bytes/megabyte) }
	row := func(when string, memory process.Memory) string {
		return fmt.Sprintf(layout, when, inMegabytes(memory.Private), inMegabytes(memory.All))
	}
	return []string{
		"", fmt.Sprintf(layout, fmt.Sprintf("stripped binary %s; its memory", inMegabytes(binary)), "private", "all"),
		row("idle, before the first review", idle), row("at most, while it is asked", busy), row("idle, after the last one", after),
	}
}
