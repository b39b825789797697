package seednode

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

const (
	// probeInterval is how often a container that is not ready yet is probed.
	probeInterval = time.Second
	// minProbeTimeout is for a machine on which everything runs.
	minProbeTimeout = 5 * time.Second
)

// probe probes the container until ctx ends, and closes unhealthy if it has to be started again.
func (c *container) probe(ctx context.Context, unhealthy chan<- struct{}) {
	if !c.probeStartup(ctx, unhealthy) {
		return
	}
	c.change(func() { c.started = true })
	select {
	case <-c.hasStarted:
	default:
		close(c.hasStarted)
	}
	var probes sync.WaitGroup
	probes.Go(func() { c.probeReadiness(ctx) })
	probes.Go(func() { c.probeLiveness(ctx, unhealthy) })
	probes.Wait()
}

// probeStartup reports whether the container has started. It is probed more often than its probe says, but failures count at the probe's pace.
func (c *container) probeStartup(ctx context.Context, unhealthy chan<- struct{}) bool {
	probe := c.spec.StartupProbe
	if probe == nil {
		return true
	}
	var result kubelet.ProbeResult
	counted := time.Now().Add(seconds(probe.InitialDelaySeconds))
	for {
		err := c.ask(ctx, probe)
		counts := err == nil || time.Since(counted) >= period(probe)
		if counts {
			counted = time.Now()
		}
		if counts && ctx.Err() == nil && result.Observe(probe, err == nil) {
			c.pod.logf("Container %s does not start: %v", c.spec.Name, err)
			close(unhealthy)
			return false
		}
		if result.Successful {
			return true
		}
		if !sleep(ctx, probeInterval) {
			return false
		}
	}
}

func (c *container) probeReadiness(ctx context.Context) {
	probe := c.spec.ReadinessProbe
	if probe == nil {
		c.change(func() { c.ready = true })
		return
	}
	var result kubelet.ProbeResult
	for {
		err := c.ask(ctx, probe)
		if ctx.Err() != nil {
			return
		}
		before := result.Successful
		result.Observe(probe, err == nil)
		if result.Successful != before {
			if before {
				c.pod.logf("Container %s is not ready any more: %v", c.spec.Name, err)
			}
			c.change(func() { c.ready = result.Successful })
		}
		interval := probeInterval
		if result.Successful {
			interval = period(probe)
		}
		if !sleep(ctx, interval) {
			return
		}
	}
}

func (c *container) probeLiveness(ctx context.Context, unhealthy chan<- struct{}) {
	probe := c.spec.LivenessProbe
	if probe == nil || !sleep(ctx, seconds(probe.InitialDelaySeconds)) {
		return
	}
	var result kubelet.ProbeResult
	for {
		err := c.ask(ctx, probe)
		if ctx.Err() != nil {
			return
		}
		if result.Observe(probe, err == nil) {
			c.pod.logf("Container %s is not alive: %v", c.spec.Name, err)
			close(unhealthy)
			return
		}
		if !sleep(ctx, period(probe)) {
			return
		}
	}
}

func period(probe *corev1.Probe) time.Duration { return max(seconds(probe.PeriodSeconds), time.Second) }

func seconds(number int32) time.Duration { return time.Duration(number) * time.Second }

// sleep reports whether the time has passed before ctx ended.
func sleep(ctx context.Context, duration time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(duration):
		return true
	}
}

// ask makes one request of a probe.
func (c *container) ask(ctx context.Context, probe *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, max(seconds(probe.TimeoutSeconds), minProbeTimeout))
	defer cancel()
	switch {
	case probe.HTTPGet != nil:
		return c.askHTTP(ctx, probe.HTTPGet)
	case probe.TCPSocket != nil:
		address, err := c.addressOf(probe.TCPSocket.Host, probe.TCPSocket.Port)
		if err != nil {
			return err
		}
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return connection.Close()
	case probe.GRPC != nil:
		address, err := c.addressOf("", intstr.FromInt32(probe.GRPC.Port))
		if err != nil {
			return err
		}
		var service string
		if probe.GRPC.Service != nil {
			service = *probe.GRPC.Service
		}
		return askGRPC(ctx, address, service)
	case probe.Exec != nil:
		return c.askCommand(ctx, probe.Exec.Command)
	default:
		return errors.New("the probe has no action")
	}
}

// addressOf returns a host of a probe, by default the pod, with a port, which may be one that the container names.
func (c *container) addressOf(host string, port intstr.IntOrString) (string, error) {
	if host == "" {
		host = c.pod.address.String()
	}
	number := port.IntVal
	if port.Type == intstr.String {
		for _, named := range c.spec.Ports {
			if named.Name == port.StrVal {
				number = named.ContainerPort
			}
		}
		if parsed, err := strconv.ParseInt(port.StrVal, 10, 32); err == nil {
			number = int32(parsed)
		}
	}
	if number == 0 {
		return "", fmt.Errorf("the container has no port %s", port.String())
	}
	return net.JoinHostPort(host, fmt.Sprint(number)), nil
}

func (c *container) askHTTP(ctx context.Context, get *corev1.HTTPGetAction) error {
	address, err := c.addressOf(get.Host, get.Port)
	if err != nil {
		return err
	}
	scheme := "http"
	if get.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+"/"+strings.TrimPrefix(get.Path, "/"), nil)
	if err != nil {
		return err
	}
	for _, header := range get.HTTPHeaders {
		request.Header.Set(header.Name, header.Value)
		if strings.EqualFold(header.Name, "Host") {
			request.Host = header.Value
		}
	}
	prober := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := prober.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest {
		return errors.New(response.Status)
	}
	return nil
}

// askGRPC calls gRPC's health service (https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
func askGRPC(ctx context.Context, address, service string) error {
	var message []byte
	if service != "" {
		message = append([]byte{0x0a}, binary.AppendUvarint(nil, uint64(len(service)))...) // field 1, a string
		message = append(message, service...)
	}
	body := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	request, err := http.NewRequestWithContext(
		ctx, http.MethodPost, "http://"+address+"/grpc.health.v1.Health/Check", strings.NewReader(string(append(body, message...))),
	)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1024))
	if err != nil {
		return err
	}
	const serving = "\x00\x00\x00\x00\x02\x08\x01" // a message of two bytes: field 1, a number, is 1
	if string(answer) != serving {
		return fmt.Errorf("%s, gRPC status %s%s", response.Status, response.Header.Get("Grpc-Status"), response.Trailer.Get("Grpc-Status"))
	}
	return nil
}

// askCommand runs a command in the container. A command that only the image has is taken as successful.
func (c *container) askCommand(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return errors.New("the probe has no command")
	}
	if !exists(filepath.Join(c.root, command[0])) {
		c.pod.node.standIns.addCommand(c.spec, command[0])
		return nil
	}
	environment, _, err := c.commandLine(ctx)
	if err != nil {
		return err
	}
	var p *process.Process
	if p, err = c.pod.sandbox.start(c.root, command[0], command[1:], environment.List(), os.DevNull); err != nil {
		return err
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
		p.Kill()
	}
	p.KillGroup()
	if code := p.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with exit code %d", command[0], code)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
