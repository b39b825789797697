package seednode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
)

func TestAddresses(t *testing.T) {
	a := newAddresses(netip.MustParsePrefix("10.1.0.8/29"), netip.MustParseAddr("10.1.0.10"))
	take := func(owner string) string {
		address, err := a.take(owner)
		if err != nil {
			return err.Error()
		}
		return address.String()
	}
	assert.Equal(t, "10.1.0.9", take("a"))
	assert.Equal(t, "10.1.0.11", take("b"), "the bridge has the one between")
	assert.Equal(t, "10.1.0.9", take("a"), "it stays the same")
	a.free("a")
	a.free("unknown")
	for _, want := range []string{"10.1.0.12", "10.1.0.13", "10.1.0.14", "10.1.0.9"} {
		assert.Equal(t, want, take(want), "a freed address is taken late, the last never")
	}
	assert.Equal(t, errNoAddress.Error(), take("c"))
}

func TestBackoff(t *testing.T) {
	var delays backoff
	for _, want := range []int32{0, 1, 2, 4, 8, 16, 30, 30} {
		assert.Equal(t, seconds(want), delays.next(time.Second))
	}
	assert.Zero(t, delays.next(stable))
	assert.Equal(t, time.Second, delays.next(0))
}

func TestPhase(t *testing.T) {
	running := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	ended := func(code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
	}
	for description, test := range map[string]struct {
		initialized, failed bool
		policy              corev1.RestartPolicy
		containers          []corev1.ContainerStatus
		want                corev1.PodPhase
	}{
		"pending before init containers have ended": {false, false, corev1.RestartPolicyAlways, []corev1.ContainerStatus{running}, corev1.PodPending},
		"failed by an init container":               {false, true, corev1.RestartPolicyNever, nil, corev1.PodFailed},
		"running":                                   {true, false, corev1.RestartPolicyAlways, []corev1.ContainerStatus{running}, corev1.PodRunning},
		"an end that is not for good":               {true, false, corev1.RestartPolicyAlways, []corev1.ContainerStatus{ended(0)}, corev1.PodRunning},
		"a failure that is not for good":            {true, false, corev1.RestartPolicyOnFailure, []corev1.ContainerStatus{ended(1)}, corev1.PodRunning},
		"one still runs":                            {true, false, corev1.RestartPolicyNever, []corev1.ContainerStatus{ended(1), running}, corev1.PodRunning},
		"all have ended":                            {true, false, corev1.RestartPolicyOnFailure, []corev1.ContainerStatus{ended(0), ended(0)}, corev1.PodSucceeded},
		"one has failed":                            {true, false, corev1.RestartPolicyNever, []corev1.ContainerStatus{ended(1), ended(0)}, corev1.PodFailed},
	} {
		t.Run(description, func(t *testing.T) {
			assert.Equal(t, test.want, phase(test.initialized, test.failed, test.policy, test.containers))
		})
	}
}

func TestPod_Status(t *testing.T) {
	p := newTestPod(t, corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "prepare", Image: "known"}, {Name: "other", Image: "unknown"}},
		Containers:     []corev1.Container{{Name: "main", Image: "known"}, {Name: "beside", Image: "unknown"}},
	})
	status := func() corev1.PodStatus {
		var status corev1.PodStatus
		p.status(&status)
		return status
	}
	p.setWaiting("secrets not found")
	got := status()
	assert.Equal(t, corev1.PodPending, got.Phase)
	assert.Equal(t, "secrets not found", got.ContainerStatuses[0].State.Waiting.Message)
	assert.NotNil(t, got.InitContainerStatuses[1].State.Terminated, "without a program it counts as done")
	assert.False(t, kubelet.IsReady(&corev1.Pod{Status: got}))

	p.setWaiting("")
	p.initContainers[0].terminated(0)
	p.initialized = true
	main := p.containers[0]
	main.change(func() {
		main.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
		main.started, main.ready = true, true
	})
	got = status()
	assert.Equal(t, corev1.PodRunning, got.Phase)
	assert.True(t, got.InitContainerStatuses[0].Ready)
	assert.True(t, got.ContainerStatuses[1].Ready, "without a program it counts as running")
	assert.True(t, kubelet.IsReady(&corev1.Pod{Status: got}))

	main.terminated(137)
	main.wait("CrashLoopBackOff", "soon")
	got = status()
	assert.Equal(t, "CrashLoopBackOff", got.ContainerStatuses[0].State.Waiting.Reason)
	assert.Equal(t, int32(137), got.ContainerStatuses[0].LastTerminationState.Terminated.ExitCode)
	assert.False(t, kubelet.IsReady(&corev1.Pod{Status: got}))
}

func TestTokens(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var requests []*authenticationv1.TokenRequest
	var failure error
	c := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		SubResourceCreate: func(_ context.Context, _ client.Client, _ string, account, object client.Object, _ ...client.SubResourceCreateOption) error {
			request := object.(*authenticationv1.TokenRequest)
			requests = append(requests, request)
			request.Status.Token = fmt.Sprint(account.GetName(), " ", len(requests))
			request.Status.ExpirationTimestamp = metav1.NewTime(now.Add(time.Duration(*request.Spec.ExpirationSeconds) * time.Second))
			return failure
		},
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", UID: "1234"}, Spec: corev1.PodSpec{ServiceAccountName: "account"}}
	tokens := newTokens(c, pod)
	tokens.now = func() time.Time { return now }
	token := func(audience string, seconds int64) string {
		content, err := tokens.token(t.Context(), &corev1.ServiceAccountTokenProjection{Audience: audience, ExpirationSeconds: &seconds})
		require.NoError(t, err)
		return string(content)
	}
	assert.Equal(t, "account 1", token("", 1000))
	assert.Equal(t, "account 2", token("gardener", 1000))
	assert.Equal(t, []string{"gardener"}, requests[1].Spec.Audiences)
	assert.Equal(t, "pod", requests[0].Spec.BoundObjectRef.Name)
	now = now.Add(799 * time.Second)
	assert.Equal(t, "account 1", token("", 1000))
	now = now.Add(time.Second)
	failure = errors.New("unavailable")
	assert.Equal(t, "account 1", token("", 1000), "it is still valid")
	failure = nil
	assert.Equal(t, "account 4", token("", 1000), "it is renewed after 80 % of its time")
	assert.Equal(t, "account 5", token("", 1_000_000))
	now = now.Add(24 * time.Hour)
	assert.Equal(t, "account 6", token("", 1_000_000), "it is renewed after a day")
}

// testProbe probes a container whose pod is at loopback, and which has the port of a server.
func testProbe(t *testing.T, server *httptest.Server, handler corev1.ProbeHandler) error {
	t.Helper()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	number := intstr.Parse(port)
	p := newTestPod(t, corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "known", Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: number.IntVal}}}}})
	p.address = netip.MustParseAddr("127.0.0.1")
	if handler.GRPC != nil {
		handler.GRPC.Port = number.IntVal
	}
	return p.containers[0].ask(t.Context(), &corev1.Probe{ProbeHandler: handler})
}

func TestProbe(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/nowhere", http.StatusFound)
		case "/host":
			if r.Host != "example.org" || r.Header.Get("X-Probe") != "yes" {
				w.WriteHeader(http.StatusBadRequest)
			}
		case "/nowhere":
			w.WriteHeader(http.StatusNotFound)
		}
	})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	web := intstr.FromString("web")
	path := func(path string) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: web}}
	}
	host := path("host")
	host.HTTPGet.HTTPHeaders = []corev1.HTTPHeader{{Name: "Host", Value: "example.org"}, {Name: "X-Probe", Value: "yes"}}
	https := path("/")
	https.HTTPGet.Scheme = corev1.URISchemeHTTPS
	for description, test := range map[string]struct {
		server  *httptest.Server
		handler corev1.ProbeHandler
		want    string
	}{
		"a page":                               {plain, path("/"), ""},
		"no page":                              {plain, path("/nowhere"), "404 Not Found"},
		"a redirection is not followed":        {plain, path("/moved"), ""},
		"with headers":                         {plain, host, ""},
		"with any certificate":                 {secure, https, ""},
		"a port that accepts connections":      {plain, corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: web}}, ""},
		"a port that the container has not":    {plain, corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("none")}}, "no port none"},
		"a command that only the image has":    {plain, corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/check"}}}, ""},
		"gRPC of a server that does not speak": {plain, corev1.ProbeHandler{GRPC: &corev1.GRPCAction{}}, "http2"},
		"nothing":                              {plain, corev1.ProbeHandler{}, "no action"},
	} {
		t.Run(description, func(t *testing.T) {
			err := testProbe(t, test.server, test.handler)
			if test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, test.want)
			}
		})
	}
}

func TestProbe_GRPC(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer := "\x00\x00\x00\x00\x02\x08\x01" // SERVING
		switch string(body) {
		case "\x00\x00\x00\x00\x00":
		case "\x00\x00\x00\x00\x06\x0a\x04down":
			answer = "\x00\x00\x00\x00\x02\x08\x02" // NOT_SERVING
		default:
			w.Header().Set("Grpc-Status", "5")
			return
		}
		w.Header().Set("Trailer", "Grpc-Status")
		_, _ = io.WriteString(w, answer)
		w.Header().Set("Grpc-Status", "0")
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	probe := func(service *string) error {
		return testProbe(t, server, corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Service: service}})
	}
	require.NoError(t, probe(nil))
	require.ErrorContains(t, probe(new("down")), "gRPC status 0")
	assert.ErrorContains(t, probe(new("unknown")), "gRPC status 5")
}

func TestStandIns(t *testing.T) {
	assert.NotEmpty(t, StandIns())
	var reported []standin.StandIn
	s := &standIns{report: func(s standin.StandIn) { reported = append(reported, s) }, reported: map[string]bool{}}
	s.add(&corev1.Container{Name: "a", Image: "one"})
	s.add(&corev1.Container{Name: "b", Image: "one"})
	s.addCommand(&corev1.Container{Name: "b", Image: "two"}, "/bin/check")
	assert.Equal(t, []standin.StandIn{
		{Name: "one", Reason: "no program for container a: it is reported as running and ready"},
		{Name: "/bin/check in two", Reason: "the probe of container b counts as successful: only the image has the command"},
	}, reported)
}
