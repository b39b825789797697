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
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/trellis-garden/trellis/e2e/internal/fleet"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// maxRetries is how often client-go, and so an API server that calls a webhook, retries after a response of 429 with Retry-After.
const maxRetries = 10

// responseTimes are the times of the reviews of a kind, including retries and pauses.
type responseTimes struct {
	request string
	times   []time.Duration
	wall    time.Duration
	retries int64
	peak    process.Memory // during the calls
}

// measure sends reviews to all webhooks and prints the response times.
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

// settledMemory waits before it reads the process's memory.
func (b *admissionBench) settledMemory(ctx context.Context) (process.Memory, error) {
	if err := fleet.Sleep(ctx, 3*time.Second); err != nil {
		return process.Memory{}, err
	}
	return b.process.Memory()
}

// call sends the same review repeatedly. Each must get the expected response.
func (b *admissionBench) call(ctx context.Context, where endpoint, what reviewed) (responseTimes, error) {
	body, err := json.Marshal(what.review)
	if err != nil {
		return responseTimes{}, err
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(where.ca)
	// As an API server does: HTTP/2, so that all share a connection.
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	asking := &http.Client{Transport: transport}
	if _, err := review(ctx, asking, where.url, body, what.refusedBy != where.name); err != nil { // whoever connects first takes longer
		return responseTimes{}, err
	}
	result := responseTimes{times: make([]time.Duration, what.times)}
	peakMemory := b.watchMemory(ctx)
	var (
		next    atomic.Int64
		retries atomic.Int64
		workers errgroup.Group
		start   = time.Now()
	)
	for range what.atOnce {
		workers.Go(func() error {
			for i := next.Add(1) - 1; i < int64(what.times); i = next.Add(1) - 1 {
				began := time.Now()
				retried, err := review(ctx, asking, where.url, body, what.refusedBy != where.name)
				if err != nil {
					return err
				}
				retries.Add(int64(retried))
				result.times[i] = time.Since(began)
			}
			return nil
		})
	}
	err = workers.Wait()
	result.wall, result.retries, result.peak = time.Since(start), retries.Load(), peakMemory()
	return result, err
}

// review sends a review as an API server does: after a response of 429 with Retry-After it retries. It returns the number of retries.
func review(ctx context.Context, httpClient *http.Client, url string, body []byte, allowed bool) (int, error) {
	for retries := 0; ; retries++ {
		wait, err := callOnce(ctx, httpClient, url, body, allowed)
		if wait == 0 || retries == maxRetries {
			return retries, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return retries, errors.Join(err, ctx.Err())
		}
	}
}

// callOnce sends a review. If the webhook has too many requests, it returns an error and the requested pause.
func callOnce(ctx context.Context, httpClient *http.Client, url string, body []byte, allowed bool) (time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := httpClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("calling %s: %w", url, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return retryAfter(response), fmt.Errorf("calling %s: %s", url, response.Status)
	}
	answer := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return 0, fmt.Errorf("reading the answer of %s: %w", url, err)
	}
	switch {
	case answer.Response == nil:
		return 0, errors.New("an answer without a response")
	case answer.Response.Allowed != allowed:
		return 0, fmt.Errorf("the Shoot is refused, or should be: %+v", answer.Response.Result)
	default:
		return 0, nil
	}
}

// retryAfter returns 0 for a response that must not be retried.
func retryAfter(response *http.Response) time.Duration {
	if response.StatusCode != http.StatusTooManyRequests {
		return 0
	}
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// watchMemory reads the memory of the process until the returned function is called, which returns the maximum.
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

// percentile returns the time within which the given percentage of responses came.
func percentile(times []time.Duration, percent int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}

func responseTable(all []responseTimes) []string {
	const layout = "%-50s %9s %9s %9s %10s %8s"
	inMilliseconds := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	lines := []string{fmt.Sprintf(layout, "", "p50", "p99", "longest", "in one s", "retries")}
	for _, one := range all {
		lines = append(lines, fmt.Sprintf(layout, one.request, inMilliseconds(percentile(one.times, 50)), inMilliseconds(percentile(one.times, 99)),
			inMilliseconds(percentile(one.times, 100)), fmt.Sprintf("%.0f", float64(len(one.times))/one.wall.Seconds()),
			strconv.FormatInt(one.retries, 10)))
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
