//go:build kind

package kind

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/kindcluster"
	"github.com/trellis-garden/trellis/e2e/internal/nodeimage"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/images"
)

const (
	probeImage = "localhost/trellis/probe:test"
	// control is the port for requests of tests, http and other are the tested ports.
	control, httpPort, other = "9000", "8080", "8081"
	// clusterTimeout bounds each wait on a machine that compiles at the same time.
	clusterTimeout = 2 * time.Minute
)

// TestCluster tests what the other tests of this folder depend on: a cluster of two nodes becomes ready, loads images, connects pods with each other,
// with Services and with this machine, enforces NetworkPolicies, writes an audit log, and can be deleted.
func TestCluster(t *testing.T) {
	ctx := t.Context()
	image, err := nodeimage.Ensure(ctx, os.Stderr)
	require.NoError(t, err)
	start := time.Now()
	cluster, err := kindcluster.Start(ctx, kindcluster.Options{Name: "trellis-cluster", Image: image, Dir: t.TempDir(), Nodes: 2, Progress: os.Stderr})
	require.NoError(t, err)
	t.Logf("a cluster of two nodes is ready after %.1f s", time.Since(start).Seconds())
	deleted := false
	t.Cleanup(func() {
		if !deleted {
			_ = cluster.Delete()
		}
	})

	archive := filepath.Join(t.TempDir(), "probe.tar")
	writeProbe(ctx, t, archive)
	start = time.Now()
	require.NoError(t, cluster.Load(ctx, archive))
	t.Logf("an image of %d MB is loaded into two nodes after %.1f s", size(t, archive)>>20, time.Since(start).Seconds())

	p := newPods(ctx, t, cluster)
	t.Run("pods reach each other, Services and this machine", p.testReach)
	t.Run("NetworkPolicies hold", p.testPolicies)
	t.Run("the audit log tells of pods", p.testAudit)

	start = time.Now()
	require.NoError(t, cluster.Delete())
	deleted = true
	t.Logf("the cluster is gone after %.1f s", time.Since(start).Seconds())
	_, err = cluster.NodeAddress()
	require.Error(t, err, "no node is left")
}

func size(t *testing.T, file string) int64 {
	info, err := os.Stat(file)
	require.NoError(t, err)
	return info.Size()
}

func writeProbe(ctx context.Context, t *testing.T, archive string) {
	binary := filepath.Join(t.TempDir(), "probe")
	_, err := repo.Go(ctx, ".", nil, "build", "-trimpath", "-buildvcs=false", "-o", binary, "./probe")
	require.NoError(t, err)
	program, err := images.Program(binary, images.Config{})
	require.NoError(t, err)
	_, err = images.WriteArchive(archive, map[string][]images.Image{probeImage: {program}})
	require.NoError(t, err)
}

// pods are those of the test: namespace shop with a client and a server on one node each and a second server on the client's, and namespace watch
// with a client.
type pods struct {
	clients   kubernetes.Interface
	cluster   *kindcluster.Cluster
	addresses map[string]string // by name
}

func newPods(ctx context.Context, t *testing.T, cluster *kindcluster.Cluster) *pods {
	clients, err := kubernetes.NewForConfig(cluster.Config)
	require.NoError(t, err)
	p := &pods{clients: clients, cluster: cluster, addresses: map[string]string{}}
	first, second := cluster.Name+"-control-plane", cluster.Name+"-worker"
	start := time.Now()
	for _, namespace := range []string{"shop", "watch"} {
		_, err := clients.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			_, err := clients.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
			return err == nil
		}, clusterTimeout, 100*time.Millisecond, "pods take a ServiceAccount")
	}
	for name, place := range map[string]struct{ namespace, node string }{
		"client": {"shop", second}, "near": {"shop", second}, "far": {"shop", first}, "stranger": {"watch", second},
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: place.namespace, Name: name, Labels: map[string]string{"app": name}},
			Spec: corev1.PodSpec{NodeName: place.node, Containers: []corev1.Container{{
				Name: "probe", Image: probeImage, ImagePullPolicy: corev1.PullNever, Args: []string{control, httpPort, other},
				Ports:          []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.Parse(other)}}, PeriodSeconds: 1},
			}}},
		}
		_, err := clients.CoreV1().Pods(place.namespace).Create(ctx, pod, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	for name, namespace := range map[string]string{"client": "shop", "near": "shop", "far": "shop", "stranger": "watch"} {
		require.Eventually(t, func() bool {
			pod, err := clients.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil || !isReady(pod) {
				return false
			}
			p.addresses[name] = pod.Status.PodIP
			return true
		}, clusterTimeout, 100*time.Millisecond, name)
	}
	t.Logf("four pods are ready after %.1f s", time.Since(start).Seconds())
	return p
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// connects makes a client connect to an address.
func (p *pods) connects(ctx context.Context, namespace, client, to string) bool {
	return p.clients.CoreV1().RESTClient().Get().Namespace(namespace).Resource("pods").Name(client+":"+control).SubResource("proxy").
		Param("to", to).Do(ctx).Error() == nil
}

// becomes waits until a connection is possible, or impossible. Rules take effect within a second.
func (p *pods) becomes(t *testing.T, want bool, namespace, client, to string) {
	t.Helper()
	assert.Eventually(t, func() bool { return p.connects(t.Context(), namespace, client, to) == want }, clusterTimeout, 200*time.Millisecond,
		"%s of %s connects to %s: want %t", client, namespace, to, want)
}

func (p *pods) at(name, port string) string { return net.JoinHostPort(p.addresses[name], port) }

func (p *pods) testReach(t *testing.T) {
	p.becomes(t, true, "shop", "client", p.at("near", httpPort))
	p.becomes(t, true, "shop", "client", p.at("far", httpPort))
	p.becomes(t, true, "watch", "stranger", p.at("far", other))
	p.becomes(t, true, "shop", "client", "kubernetes.default.svc.cluster.local:443")

	gateway, err := p.cluster.Gateway(t.Context())
	require.NoError(t, err)
	listener, err := net.Listen("tcp", net.JoinHostPort(gateway, "0"))
	require.NoError(t, err, "a process of this machine listens on the bridge")
	server := &http.Server{}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	p.becomes(t, true, "shop", "client", listener.Addr().String())
}

func (p *pods) testPolicies(t *testing.T) {
	// A connection that the policy does not concern stays possible all the time, which shows that the cluster works.
	stillOpen := func() { p.becomes(t, true, "shop", "client", p.at("stranger", httpPort)) }

	pod, err := p.clients.CoreV1().Pods("shop").Get(t.Context(), "client", metav1.GetOptions{})
	require.NoError(t, err)
	kubelet := net.JoinHostPort(pod.Status.HostIP, "10250")
	p.becomes(t, true, "shop", "client", kubelet)

	p.apply(t, "deny", `{podSelector: {matchExpressions: [{key: app, operator: In, values: [near, far]}]}, policyTypes: [Ingress]}`)
	for _, server := range []string{"near", "far"} {
		p.becomes(t, false, "shop", "client", p.at(server, httpPort))
		p.becomes(t, false, "watch", "stranger", p.at(server, httpPort))
	}
	stillOpen()

	p.apply(t, "allow-client", `{podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: client}}}], ports: [{port: http}]}, {ports: [{port: 9000}]}]}`)
	for _, server := range []string{"near", "far"} {
		p.becomes(t, true, "shop", "client", p.at(server, httpPort))
		p.becomes(t, false, "shop", "client", p.at(server, other))
		p.becomes(t, false, "watch", "stranger", p.at(server, httpPort))
	}

	p.apply(t, "allow-watch", `{podSelector: {matchLabels: {app: far}}, ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: watch}}}], ports: [{port: 8000, endPort: 8100}]}]}`)
	p.becomes(t, true, "watch", "stranger", p.at("far", other))
	p.becomes(t, false, "watch", "stranger", p.at("near", other))
	p.becomes(t, false, "shop", "client", p.at("far", other))

	p.apply(t, "egress", fmt.Sprintf(`{podSelector: {matchLabels: {app: client}}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [%s/32]}}], ports: [{port: 8080}]}]}`, p.addresses["near"]))
	p.becomes(t, false, "shop", "client", p.at("near", httpPort))
	p.becomes(t, false, "shop", "client", p.at("stranger", other))
	p.becomes(t, false, "shop", "client", kubelet)
	stillOpen()

	for _, name := range []string{"near", "far"} {
		pod, err := p.clients.CoreV1().Pods("shop").Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		assert.True(t, isReady(pod), "the kubelet's probes of %s get through", name)
		assert.Zero(t, pod.Status.ContainerStatuses[0].RestartCount)
	}
	for _, name := range []string{"deny", "allow-client", "allow-watch", "egress"} {
		require.NoError(t, p.clients.NetworkingV1().NetworkPolicies("shop").Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	p.becomes(t, true, "shop", "client", p.at("near", other))
	p.becomes(t, true, "watch", "stranger", p.at("far", httpPort))
}

func (p *pods) apply(t *testing.T, name, spec string) {
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	require.NoError(t, yaml.UnmarshalStrict([]byte(spec), &policy.Spec))
	_, err := p.clients.NetworkingV1().NetworkPolicies("shop").Create(t.Context(), policy, metav1.CreateOptions{})
	require.NoError(t, err)
}

// testAudit makes requests with a pod's token, also with one for Gardener's audience.
func (p *pods) testAudit(t *testing.T) {
	const account = "system:serviceaccount:shop:default"
	token, err := p.clients.CoreV1().ServiceAccounts("shop").CreateToken(t.Context(), "default",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{v1beta1constants.GardenerAudience}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	config := rest.AnonymousClientConfig(p.cluster.Config)
	config.BearerToken = token.Status.Token
	pod, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	_, err = pod.CoreV1().Secrets("shop").List(t.Context(), metav1.ListOptions{})
	require.ErrorContains(t, err, "forbidden")
	assert.Eventually(t, func() bool {
		content, err := os.ReadFile(p.cluster.AuditLog())
		require.NoError(t, err)
		for line := range bytes.Lines(content) {
			if bytes.Contains(line, []byte(account)) && bytes.Contains(line, []byte(`"resource":"secrets"`)) && bytes.Contains(line, []byte(`"code":403`)) {
				return true
			}
		}
		return false
	}, clusterTimeout, 100*time.Millisecond)
}

// TestCluster_CreationCanceled checks that nothing is left of a cluster whose creation is canceled, or that a killed process has left.
func TestCluster_CreationCanceled(t *testing.T) {
	const name = "trellis-broken-off"
	image, err := nodeimage.Ensure(t.Context(), os.Stderr)
	require.NoError(t, err)
	containers := func() string {
		output, err := exec.CommandContext(t.Context(), "docker", "ps", "--all", "--format", "{{.Names}}", "--filter", "label=io.x-k8s.kind.cluster="+name).Output()
		require.NoError(t, err)
		return string(output)
	}
	output, err := exec.CommandContext(t.Context(), "docker", "run", "--detach", "--name", name+"-leftover", "--label", "io.x-k8s.kind.cluster="+name,
		"--label", "io.x-k8s.kind.role=worker", "--entrypoint", "sleep", image, "infinity").CombinedOutput()
	require.NoError(t, err, string(output))
	t.Cleanup(func() {
		_ = exec.CommandContext(context.WithoutCancel(t.Context()), "docker", "rm", "--force", "--volumes", name+"-leftover").Run()
	})
	require.Contains(t, containers(), "leftover")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // as soon as its first node runs
		for ctx.Err() == nil {
			if err := exec.CommandContext(ctx, "docker", "exec", name+"-control-plane", "true").Run(); err == nil {
				cancel()
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	dir := t.TempDir()
	_, err = kindcluster.Start(ctx, kindcluster.Options{Name: name, Image: image, Dir: dir, Progress: os.Stderr})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, containers())
}
