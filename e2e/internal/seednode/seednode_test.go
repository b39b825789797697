//go:build landscape

package seednode

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/kcm"
	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
)

const (
	ns      = "test"
	image   = "registry.example.org/program:1"
	timeout = time.Minute
)

// environment is a cluster with a node.
type environment struct {
	t      *testing.T
	client client.Client
	config *rest.Config
	dir    string // of pods
	hosts  string
	http   *http.Client

	lock     sync.Mutex
	standIns []string
}

// newEnvironment starts an API server and kube-controller-manager.
func newEnvironment(t *testing.T) *environment {
	t.Helper()
	ip(t, "link add pods0 type bridge")
	ip(t, "address add 10.99.0.1/16 dev pods0")
	ip(t, "link set pods0 up")
	ip(t, "route add default dev pods0") // an API server wants one
	programs, err := assets.Ensure(t.Context(), os.Stderr, "etcd", "kube-apiserver", "kube-controller-manager")
	require.NoError(t, err)
	server, err := apiserver.New(programs, apiserver.Options{ServiceAccounts: true})
	require.NoError(t, err)
	config, err := server.Start()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, server.KubeConfig, 0o600))
	manager, err := kcm.Start(t.Context(), programs, dir, kubeconfig, "endpointslice-controller", "job-controller")
	require.NoError(t, err)
	t.Cleanup(manager.Kill)
	e := &environment{t: t, config: config, dir: filepath.Join(dir, "pods"), hosts: filepath.Join(dir, "hosts")}
	e.client, err = client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	require.NoError(t, err)
	e.http = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return e
}

func ip(t *testing.T, args string) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "ip", strings.Fields(args)...).CombinedOutput()
	require.NoError(t, err, string(output))
}

// startNode starts a node. It returns a function that ends it, and waits for that.
func (e *environment) startNode() (stop func()) {
	program, err := os.Executable()
	require.NoError(e.t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.t.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{
			REST: e.config, NodeName: "node", Dir: e.dir, Hosts: e.hosts, Bridge: "pods0", PodRange: netip.MustParsePrefix("10.99.1.0/24"), Log: e.t.Output(),
			Labels:   map[string]string{corev1.LabelTopologyZone: "zone-a"},
			Programs: func(of, _ string) (string, bool) { return program, of == image },
			Overrides: func(pod *corev1.Pod, _ *corev1.Container) ([]string, []corev1.EnvVar) {
				return nil, []corev1.EnvVar{{Name: programVariable, Value: "yes"}, {Name: "OVERRIDDEN", Value: "$(GREETING) " + pod.Namespace}}
			},
			OnStandIn: func(s standin.StandIn) {
				e.lock.Lock()
				defer e.lock.Unlock()
				e.standIns = append(e.standIns, s.Name)
			},
		})
	}()
	return sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			assert.NoError(e.t, err)
		case <-time.After(timeout):
			assert.Fail(e.t, "the node does not end")
		}
	})
}

// showLogs shows the output of all containers if the test has failed.
func (e *environment) showLogs() {
	logs, err := filepath.Glob(filepath.Join(e.dir, "*/*/*.log"))
	assert.NoError(e.t, err)
	for _, log := range logs {
		if content, err := os.ReadFile(log); e.t.Failed() {
			e.t.Log(log, string(content), err)
		}
	}
}

func (e *environment) create(objects ...client.Object) {
	e.t.Helper()
	for _, object := range objects {
		require.NoError(e.t, e.client.Create(e.t.Context(), object))
	}
}

func (e *environment) eventually(what string, condition func() bool) {
	e.t.Helper()
	require.Eventually(e.t, condition, timeout, 100*time.Millisecond, what)
}

// pods lists the pods of an app.
func (e *environment) pods(app string) []corev1.Pod {
	e.t.Helper()
	list := &corev1.PodList{}
	require.NoError(e.t, e.client.List(e.t.Context(), list, client.InNamespace(ns), client.MatchingLabels{"app": app}))
	return list.Items
}

// readyPod waits for the pod of an app.
func (e *environment) readyPod(app string) *corev1.Pod {
	e.t.Helper()
	var pod *corev1.Pod
	e.eventually("a pod of "+app+" is ready", func() bool {
		pods := e.pods(app)
		if len(pods) == 1 && kubelet.IsReady(&pods[0]) {
			pod = &pods[0]
		}
		return pod != nil
	})
	return pod
}

// ask asks the program at an address.
func (e *environment) ask(address string) (*answer, error) {
	request, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, "http://"+address, nil)
	if err != nil {
		return nil, err
	}
	response, err := e.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	a := &answer{}
	return a, json.NewDecoder(response.Body).Decode(a)
}

func (e *environment) setSecret(key, value string) {
	e.t.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"stringData":{%q:%q}}`, key, value))
	require.NoError(e.t, e.client.Patch(e.t.Context(), &corev1.Secret{ObjectMeta: objectMeta("conf")}, patch))
}

func objectMeta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: ns} }

func deployment(name string, spec corev1.PodSpec) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{ObjectMeta: objectMeta(name)}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec}
	return d
}

// serverSpec is a pod of the program, with an init container.
func serverSpec() corev1.PodSpec {
	shared := corev1.VolumeMount{Name: "shared", MountPath: "/shared"}
	return corev1.PodSpec{
		HostAliases:                   []corev1.HostAlias{{IP: "10.1.2.3", Hostnames: []string{"alias.example.org"}}},
		TerminationGracePeriodSeconds: new(int64(20)),
		Volumes: []corev1.Volume{
			{Name: "conf", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "conf"}}},
			{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}, // envtest, which is in the program, writes there
		},
		InitContainers: []corev1.Container{
			{Name: "prepare", Image: image, Command: []string{"/program", "init"}, VolumeMounts: []corev1.VolumeMount{shared}},
			{Name: "unknown", Image: "registry.example.org/unknown-init:1"},
		},
		Containers: []corev1.Container{{
			Name: "server", Image: image, Command: []string{"/bin/server"}, Args: []string{":8080", "--greeting=$(GREETING)"},
			Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: 8080}},
			Env: []corev1.EnvVar{
				{Name: "GREETING", Value: "hello"},
				{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			},
			VolumeMounts: []corev1.VolumeMount{
				shared, {Name: "tmp", MountPath: "/tmp"}, {Name: "conf", MountPath: "/etc/conf"}, {Name: "conf", MountPath: "/sub/message", SubPath: "message"},
			},
			SecurityContext: &corev1.SecurityContext{ReadOnlyRootFilesystem: new(true)},
			ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, ProbeHandler: corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("web")},
			}},
			LivenessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/only-in-the-image"}}}},
		}},
	}
}

func service(name, app string, kind corev1.ServiceType) *corev1.Service {
	return &corev1.Service{ObjectMeta: objectMeta(name), Spec: corev1.ServiceSpec{
		Type: kind, Selector: map[string]string{"app": app}, Ports: []corev1.ServicePort{
			{Name: "web", Port: 80, TargetPort: intstr.FromString("web")},
			{Name: "same", Port: 8080},
			{Name: "tls", Port: 443, TargetPort: intstr.FromInt32(8443)},
		},
	}}
}

func TestRun(t *testing.T) {
	e := newEnvironment(t)
	e.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}},
		&corev1.ConfigMap{ObjectMeta: objectMeta("kube-root-ca.crt"), Data: map[string]string{"ca.crt": "a CA"}})
	stop := e.startNode()
	t.Cleanup(stop)
	t.Cleanup(e.showLogs)
	front := service("front", "server", corev1.ServiceTypeLoadBalancer)
	e.create(front, deployment("server", serverSpec()), &corev1.Service{
		ObjectMeta: objectMeta("elsewhere"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "front.test.svc.cluster.local"},
	})
	t.Run("a pod waits for its Secret", func(*testing.T) {
		e.eventually("it says so", func() bool {
			pods := e.pods("server")
			return len(pods) == 1 && len(pods[0].Status.ContainerStatuses) == 1 && pods[0].Status.ContainerStatuses[0].State.Waiting != nil &&
				strings.Contains(pods[0].Status.ContainerStatuses[0].State.Waiting.Message, `secrets "conf" not found`)
		})
	})
	e.create(&corev1.Secret{ObjectMeta: objectMeta("conf"), StringData: map[string]string{"message": "one", "ready": "yes"}})
	pod := e.readyPod("server")
	address := net.JoinHostPort(front.Spec.ClusterIP, "80")
	t.Run("a program sees what it would see in a container", func(t *testing.T) { checkContainer(t, e, pod, address) })
	t.Run("Services have names and addresses", func(t *testing.T) { checkServices(t, e, front) })
	t.Run("ingress gateways lead to the host that a client asks for", func(t *testing.T) { checkGateway(t, e) })
	t.Run("the node is alive", func(t *testing.T) { checkNode(t, e) })
	t.Run("files follow a Secret", func(t *testing.T) {
		e.setSecret("message", "two")
		e.eventually("the file changes", func() bool {
			a, err := e.ask(address)
			return err == nil && a.Files["/etc/conf/message"] == "two"
		})
		a, err := e.ask(address)
		require.NoError(t, err)
		assert.Equal(t, "one", a.Files["/sub/message"], "a part of a volume is not updated")
	})
	t.Run("readiness follows the probe, and the Service the readiness", func(t *testing.T) {
		e.setSecret("ready", "no")
		e.eventually("connections are refused", func() bool { _, err := e.ask(address); return err != nil })
		assert.False(t, kubelet.IsReady(&e.pods("server")[0]))
		e.setSecret("ready", "yes")
		e.eventually("the Service leads to the pod", func() bool { _, err := e.ask(address); return err == nil })
	})
	t.Run("a program that ends is started again", func(t *testing.T) { checkRestart(t, e, pod, address) })
	t.Run("other pods are reported as running", func(t *testing.T) { checkStandIns(t, e) })
	t.Run("a deleted pod ends", func(t *testing.T) { checkDeletion(t, e, pod, address) })
	t.Run("a program that is not alive is started again, beside its sidecar", func(t *testing.T) { checkLiveness(t, e) })
	t.Run("nothing survives the node", func(t *testing.T) {
		e.create(deployment("another", serverSpec()))
		e.readyPod("another")
		assert.NotEmpty(t, programsRunning(t))
		stop()
		assert.Empty(t, programsRunning(t))
		output, err := exec.CommandContext(t.Context(), "ip", "route", "show", "table", "local").Output()
		require.NoError(t, err)
		assert.NotContains(t, string(output), front.Spec.ClusterIP)
	})
}

func checkContainer(t *testing.T, e *environment, pod *corev1.Pod, address string) {
	var a *answer
	var err error
	e.eventually("the Service leads to the pod", func() bool { a, err = e.ask(address); return err == nil })
	assert.Equal(t, pod.Name, a.Host)
	assert.Equal(t, []string{"/bin/server", ":8080", "--greeting=hello"}, a.Args)
	assert.Subset(t, a.Env, []string{"GREETING=hello", "POD_IP=" + pod.Status.PodIP, "OVERRIDDEN=hello test", "HOSTNAME=" + pod.Name, "KUBERNETES_SERVICE_HOST=10.0.0.1"})
	assert.True(t, strings.HasPrefix(pod.Status.PodIP, "10.99.1."), pod.Status.PodIP)
	assert.Equal(t, "one", a.Files["/etc/conf/message"])
	assert.Equal(t, "one", a.Files["/sub/message"])
	assert.Equal(t, "done", a.Files["/shared/init"], "of the init container")
	assert.Empty(t, a.Files["/etc/shadow"], "of this machine")
	assert.Equal(t, "/shared/x", a.Written, "the root and the Secret are read-only")
	for _, line := range []string{"10.1.2.3 alias.example.org\n", pod.Status.PodIP + " " + pod.Name + "\n", " front front.test front.test.svc front.test.svc.cluster.local\n"} {
		assert.Contains(t, a.Files["/etc/hosts"], line)
	}
	assert.Contains(t, a.User, "system:serviceaccount:test:default", "the API server knows the pod's token")
	direct, err := e.ask(net.JoinHostPort(pod.Status.PodIP, "8080"))
	require.NoError(t, err)
	assert.Equal(t, a.PID, direct.PID)
}

func checkServices(t *testing.T, e *environment, front *corev1.Service) {
	_, err := e.ask(net.JoinHostPort(front.Spec.ClusterIP, "8080"))
	require.NoError(t, err, "another port of the Service")
	require.NoError(t, e.client.Get(t.Context(), client.ObjectKeyFromObject(front), front))
	assert.Equal(t, []corev1.LoadBalancerIngress{{IP: front.Spec.ClusterIP, IPMode: new(corev1.LoadBalancerIPModeVIP)}}, front.Status.LoadBalancer.Ingress)
	content, err := os.ReadFile(e.hosts)
	require.NoError(t, err)
	for _, line := range []string{
		"127.0.0.1 localhost\n", "10.0.0.1 kubernetes.default kubernetes.default.svc kubernetes.default.svc.cluster.local\n",
		front.Spec.ClusterIP + " elsewhere.test elsewhere.test.svc elsewhere.test.svc.cluster.local\n",
	} {
		assert.Contains(t, string(content), line)
	}
}

func checkGateway(t *testing.T, e *environment) {
	gateway := &corev1.Service{ObjectMeta: objectMeta("gateway"), Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": gatewayApp}, Ports: []corev1.ServicePort{{Port: 443}},
	}}
	e.create(gateway)
	definition := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: virtualservices.networking.istio.io}
spec:
  group: networking.istio.io
  names: {kind: VirtualService, plural: virtualservices}
  scope: Namespaced
  versions:
  - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`), &definition.Object))
	e.create(definition)
	virtualService := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(`
apiVersion: networking.istio.io/v1beta1
kind: VirtualService
metadata: {name: api, namespace: test}
spec:
  tls:
  - match: [{port: 443, sniHosts: [api.example.org]}]
    route: [{destination: {host: front.test.svc.cluster.local, port: {number: 443}}}]
`), &virtualService.Object))
	e.eventually("the kind is there", func() bool { return e.client.Create(t.Context(), virtualService) == nil })
	ask := func(host string) error {
		dialer := &tls.Dialer{Config: &tls.Config{ServerName: host, InsecureSkipVerify: true}}
		connection, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(gateway.Spec.ClusterIP, "443"))
		if err != nil {
			return err
		}
		return connection.Close()
	}
	e.eventually("the host is known", func() bool { return ask("api.example.org") == nil })
	assert.Error(t, ask("other.example.org"))
}

func checkNode(t *testing.T, e *environment) {
	node := &corev1.Node{}
	require.NoError(t, e.client.Get(t.Context(), client.ObjectKey{Name: "node"}, node))
	assert.Equal(t, corev1.ConditionTrue, node.Status.Conditions[0].Status)
	assert.Equal(t, "zone-a", node.Labels[corev1.LabelTopologyZone])
	assert.Equal(t, resource.MustParse("64"), node.Status.Allocatable[corev1.ResourceCPU])
	e.eventually("the Lease exists", func() bool {
		lease := &coordinationv1.Lease{}
		err := e.client.Get(t.Context(), client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: "node"}, lease)
		return err == nil && time.Since(lease.Spec.RenewTime.Time) < leaseDuration
	})
}

func checkRestart(t *testing.T, e *environment, pod *corev1.Pod, address string) {
	_, err := e.ask(address + "/exit/3")
	require.Error(t, err)
	e.eventually("the restart is reported", func() bool {
		status := e.pods("server")[0].Status.ContainerStatuses[0]
		return status.RestartCount == 1 && status.Ready && status.LastTerminationState.Terminated != nil && status.LastTerminationState.Terminated.ExitCode == 3
	})
	log, err := os.ReadFile(filepath.Join(e.dir, ns, pod.Name, "server.log"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(log), "started [:8080"), string(log))
}

func checkStandIns(t *testing.T, e *environment) {
	unknown := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example.org/unknown:1"}}}
	e.create(deployment("unknown", unknown))
	assert.Equal(t, "node", e.readyPod("unknown").Spec.NodeName)
	unknown.RestartPolicy = corev1.RestartPolicyNever
	job := &batchv1.Job{ObjectMeta: objectMeta("job"), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: unknown}}}
	e.create(job)
	e.eventually("the Job succeeds", func() bool {
		return e.client.Get(t.Context(), client.ObjectKeyFromObject(job), job) == nil && job.Status.Succeeded == 1
	})
	e.lock.Lock()
	defer e.lock.Unlock()
	slices.Sort(e.standIns)
	assert.Equal(t, []string{
		"/bin/only-in-the-image in registry.example.org/program:1", "registry.example.org/unknown-init:1", "registry.example.org/unknown:1",
	}, e.standIns)
}

func checkDeletion(t *testing.T, e *environment, pod *corev1.Pod, address string) {
	require.NoError(t, e.client.Delete(t.Context(), &appsv1.Deployment{ObjectMeta: objectMeta("server")}, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	e.eventually("the pod is gone", func() bool {
		return apierrors.IsNotFound(e.client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}))
	})
	log, err := os.ReadFile(filepath.Join(e.dir, ns, pod.Name, "server.log"))
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(log), "terminated\n"), string(log))
	_, err = e.ask(address)
	require.Error(t, err)
	assert.NoDirExists(t, filepath.Join(e.dir, ns, pod.Name, string(pod.UID)))
	e.eventually("no network interface is left", func() bool {
		output, err := exec.CommandContext(t.Context(), "ip", "-brief", "link", "show", "type", "veth").Output()
		return err == nil && len(output) == 0
	})
	assert.Empty(t, programsRunning(t))
}

func checkLiveness(t *testing.T, e *environment) {
	spec := serverSpec()
	web := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/alive", Port: intstr.FromString("web")}}
	spec.Containers[0].StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}}
	spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: web, PeriodSeconds: 1, FailureThreshold: 2}
	spec.InitContainers = append(spec.InitContainers, corev1.Container{
		Name: "sidecar", Image: image, Command: []string{"/bin/server"}, Args: []string{":9090"}, RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
		VolumeMounts: []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
	})
	e.create(deployment("living", spec))
	pod := e.readyPod("living")
	_, err := e.ask(pod.Status.PodIP + ":9090")
	require.NoError(t, err, "the sidecar")
	before, err := e.ask(pod.Status.PodIP + ":8080")
	require.NoError(t, err)
	_, _ = e.ask(pod.Status.PodIP + ":8080/hang")
	e.eventually("another process answers", func() bool {
		after, err := e.ask(pod.Status.PodIP + ":8080")
		return err == nil && after.PID != before.PID
	})
	e.eventually("it is ready again", func() bool {
		status := e.pods("living")[0].Status
		return status.ContainerStatuses[0].RestartCount == 1 && status.ContainerStatuses[0].Ready && status.InitContainerStatuses[2].RestartCount == 0
	})

	// The API server forgets a pod at once that is deleted without a grace period.
	d := &appsv1.Deployment{ObjectMeta: objectMeta("living")}
	require.NoError(t, e.client.Delete(t.Context(), d, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	e.eventually("no controller creates another pod", func() bool {
		return e.client.DeleteAllOf(t.Context(), &appsv1.ReplicaSet{}, client.InNamespace(ns), client.MatchingLabels{"app": "living"},
			client.PropagationPolicy(metav1.DeletePropagationOrphan)) == nil && len(e.replicaSets("living")) == 0
	})
	require.NoError(t, e.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	e.eventually("both processes end", func() bool { return len(programsRunning(t)) == 0 })
}

func (e *environment) replicaSets(app string) []appsv1.ReplicaSet {
	e.t.Helper()
	list := &appsv1.ReplicaSetList{}
	require.NoError(e.t, e.client.List(e.t.Context(), list, client.InNamespace(ns), client.MatchingLabels{"app": app}))
	return list.Items
}

// programsRunning lists the processes of pods.
func programsRunning(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	var found []string
	for _, path := range paths {
		content, _ := os.ReadFile(path) // it may have ended
		command := strings.ReplaceAll(string(content), "\x00", " ")
		if strings.HasPrefix(command, "/bin/server ") || strings.HasPrefix(command, "sleep infinity") {
			found = append(found, command)
		}
	}
	return found
}
