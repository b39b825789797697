package inspect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/inspect"
)

var apiServer contracttest.Shared

func TestMain(m *testing.M) { os.Exit(apiServer.Run(m)) }

// cloudFunc is a Cloud of a function.
type cloudFunc func(inspect.Recorded) ([]inspect.Resource, error)

func (f cloudFunc) Resources(recorded inspect.Recorded) ([]inspect.Resource, error) {
	return f(recorded)
}

// seed is an API server with an administrator's kubeconfig.
type seed struct {
	*contracttest.APIServer
	t          *testing.T
	kubeconfig string
}

func newSeed(t *testing.T) seed { return newSeedAs(t, "") }

// newSeedAs returns a seed with the kubeconfig of a user; an empty name is that of an administrator.
func newSeedAs(t *testing.T, user string) seed {
	server := apiServer.Get(t)
	config := clientcmdapi.NewConfig()
	config.Clusters["seed"] = &clientcmdapi.Cluster{Server: server.Config.Host, CertificateAuthorityData: server.Config.CAData}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{ClientCertificateData: server.Config.CertData, ClientKeyData: server.Config.KeyData, Impersonate: user}
	config.Contexts["seed"] = &clientcmdapi.Context{Cluster: "seed", AuthInfo: "admin"}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, file))
	return seed{server, t, file}
}

// create creates an object with its status.
func (s seed) create(object client.Object) {
	s.t.Helper()
	withStatus := object.DeepCopyObject().(client.Object)
	require.NoError(s.t, s.Client.Create(s.t.Context(), object))
	withStatus.SetResourceVersion(object.GetResourceVersion())
	withStatus.SetUID(object.GetUID())
	require.NoError(s.t, s.Client.Status().Update(s.t.Context(), withStatus))
}

func (s seed) shootNamespace(name string) string {
	s.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"gardener.cloud/role": "shoot"}}}
	require.NoError(s.t, s.Client.Create(s.t.Context(), namespace))
	return name
}

// run runs the command.
func (s seed) run(args ...string) (code int, out, errOut string) {
	var stdout, stderr bytes.Buffer
	command := inspect.Command{Name: "kubectl trellis", Now: time.Now, Clouds: map[string]inspect.Cloud{
		"example": cloudFunc(func(recorded inspect.Recorded) ([]inspect.Resource, error) {
			return []inspect.Resource{{Kind: "network\x1b[31m", ID: string(recorded.Config) + string(recorded.State) + string(recorded.Status), Origin: inspect.OriginTrellis}}, nil
		}),
	}}
	code = command.Run(context.Background(), append([]string{"--kubeconfig", s.kubeconfig, "--context=seed"}, args...), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// report runs the command and returns its report.
func (s seed) report(namespace string) (int, inspect.Report) {
	s.t.Helper()
	code, out, errOut := s.run("-o", "json", namespace)
	var report inspect.Report
	if out == "" {
		s.t.Log(errOut)
		return code, report
	}
	require.NoError(s.t, json.Unmarshal([]byte(out), &report), "%s%s", out, errOut)
	return code, report
}

func succeeded(now metav1.Time) extensionsv1alpha1.DefaultStatus {
	return extensionsv1alpha1.DefaultStatus{LastOperation: &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeReconcile, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100,
		Description: "done", LastUpdateTime: now,
	}}
}

func condition(conditionType gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, now metav1.Time) gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{Type: conditionType, Status: status, Reason: "R", Message: "m", LastTransitionTime: now, LastUpdateTime: now}
}

func raw(content string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(content)} }

// createInfrastructure creates an Infrastructure with a condition of the primary and one of a secondary.
func (s seed) createInfrastructure(namespace, infrastructureType string, now metav1.Time) {
	infrastructure := &extensionsv1alpha1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "first"}}
	infrastructure.Spec.Type, infrastructure.Spec.Region, infrastructure.Spec.ProviderConfig = infrastructureType, "one", raw(`{"c":1}`)
	infrastructure.Status.DefaultStatus = succeeded(now)
	infrastructure.Status.State, infrastructure.Status.ProviderStatus = raw(`{"vpc":"vpc-1"}`), raw(`{"s":1}`)
	infrastructure.Status.Conditions = []gardencorev1beta1.Condition{condition("A", "True", now), condition("DriftFree", "True", now)}
	s.create(infrastructure)
}

func TestCommand_HealthyShoot(t *testing.T) {
	s, now := newSeed(t), metav1.Now().Rfc3339Copy()
	namespace := s.shootNamespace("shoot--dev--healthy")
	s.createInfrastructure(namespace, "example", now)
	code, report := s.report(namespace)
	assert.Equal(t, inspect.ExitHealthy, code)
	require.Len(t, report.Objects, 1)
	assert.Equal(t, inspect.Object{
		Kind: "Infrastructure", Name: "first", Type: "example", State: inspect.StateHealthy,
		LastOperation: &inspect.Operation{Type: "Reconcile", State: "Succeeded", Progress: 100, Description: "done", At: now.UTC()},
		Conditions: []inspect.Condition{
			{Type: "A", Status: "True", Reason: "R", Message: "m", Since: now.UTC()}, {Type: "DriftFree", Status: "True", Reason: "R", Message: "m", Since: now.UTC()},
		},
		Resources: []inspect.Resource{{Kind: "network [31m", ID: `{"c":1}{"vpc":"vpc-1"}{"s":1}`, Origin: inspect.OriginTrellis}},
	}, report.Objects[0])
	code, out, _ := s.run(namespace)
	assert.Equal(t, inspect.ExitHealthy, code)
	assert.Contains(t, out, "Infrastructure first (example): Healthy\n")
	code, out, _ = s.run("--output=svg", namespace)
	assert.Equal(t, inspect.ExitHealthy, code)
	assert.Contains(t, out, "<svg ")
}

func TestCommand_UnhealthyShoot(t *testing.T) {
	s, now := newSeed(t), metav1.Now().Rfc3339Copy()
	namespace := s.shootNamespace("shoot--dev--unhealthy")
	s.createInfrastructure(namespace, "other", now)
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "first"}

	controlPlane := &extensionsv1alpha1.ControlPlane{ObjectMeta: meta}
	controlPlane.Spec.Type, controlPlane.Spec.Region, controlPlane.Spec.SecretRef.Name = "example", "one", "cloudprovider"
	controlPlane.Status.DefaultStatus = succeeded(now)
	controlPlane.Status.Conditions = []gardencorev1beta1.Condition{condition("A", "True", now), condition("Z", "False", now)}
	s.create(controlPlane)
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "extension-controlplane-shoot"}}
	resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "a"}}
	resource.Status.Conditions = []gardencorev1beta1.Condition{condition(resourcesv1alpha1.ResourcesApplied, "False", now)}
	s.create(resource)

	network := &extensionsv1alpha1.Network{ObjectMeta: meta}
	network.Spec.Type, network.Spec.PodCIDR, network.Spec.ServiceCIDR = "example-net", "10.1.0.0/16", "10.2.0.0/16"
	network.Annotations = map[string]string{
		"gardener.cloud/operation": "reconcile", "gardener.cloud/timestamp": now.Add(-time.Hour).Format(time.RFC3339Nano),
	}
	require.NoError(t, s.Client.Create(t.Context(), network))

	worker := &extensionsv1alpha1.Worker{ObjectMeta: meta}
	worker.Spec.Type, worker.Spec.Region, worker.Spec.SecretRef.Name, worker.Spec.Pools = "example", "one", "cloudprovider", []extensionsv1alpha1.WorkerPool{}
	worker.Status.DefaultStatus = succeeded(now)
	worker.Status.LastError = &gardencorev1beta1.LastError{Description: "no quota", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraQuotaExceeded}}
	s.create(worker)
	deployment := &machinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pool"}}
	deployment.Spec.Replicas, deployment.Status.Replicas = 2, 1
	s.create(deployment)
	machine := &machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pool-1", Labels: map[string]string{"name": "pool"}}}
	machine.Status.LastOperation = machinev1alpha1.LastOperation{
		Type: machinev1alpha1.MachineOperationCreate, State: machinev1alpha1.MachineStateFailed, Description: "machine codes error: code = [Internal] message = [x]",
		LastUpdateTime: now,
	}
	machine.Status.CurrentStatus.LastUpdateTime = now
	s.create(machine)

	code, report := s.report(namespace)
	assert.Equal(t, inspect.ExitNotHealthy, code)
	require.Len(t, report.Objects, 4)
	assert.Equal(t, []inspect.Resource{{Kind: "vpc", ID: "vpc-1", Origin: inspect.OriginUnknown}}, report.Objects[0].Resources, "of an unknown type")
	assert.Equal(t, "Z", report.Objects[1].Conditions[0].Type, "unhealthy conditions first")
	assert.Equal(t, &inspect.ManagedResources{Total: 1, Problems: []inspect.ManagedResourceProblem{{
		Name: "extension-controlplane-shoot", State: inspect.StateUnhealthy, Problem: "is not applied", Message: "m", Since: new(now.UTC()),
	}}}, report.Objects[1].ManagedResources)
	assert.True(t, report.Objects[2].Request.Unserved)
	assert.Equal(t, "example-net", report.Objects[2].Type)
	assert.Equal(t, []string{"ERR_INFRA_QUOTA_EXCEEDED"}, report.Objects[3].LastError.Codes)
	assert.Equal(t, []inspect.MachineDeployment{{Name: "pool", Wanted: 2, Exist: 1}}, report.Objects[3].MachineDeployments)
	assert.Equal(t, []inspect.Machine{
		{Name: "pool-1", Deployment: "pool", Operation: "Create", Code: "Internal", Message: "x", At: now.UTC()},
	}, report.Objects[3].FailedMachines)
}

func TestCommand_WithoutRights(t *testing.T) {
	s, now := newSeedAs(t, "reader"), metav1.Now().Rfc3339Copy()
	namespace := s.shootNamespace("shoot--dev--rights")
	s.createInfrastructure(namespace, "example", now)
	worker := &extensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "first"}}
	worker.Spec.Type, worker.Spec.Region, worker.Spec.SecretRef.Name, worker.Spec.Pools = "example", "one", "cloudprovider", []extensionsv1alpha1.WorkerPool{}
	worker.Status.DefaultStatus = succeeded(now)
	s.create(worker)

	code, _, errOut := s.run(namespace)
	assert.Equal(t, inspect.ExitFailed, code)
	assert.Contains(t, errOut, `listing infrastructures: infrastructures.extensions.gardener.cloud is forbidden: User "reader" cannot list`)

	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"extensions.gardener.cloud"}, Resources: []string{"infrastructures", "controlplanes", "networks", "workers"}, Verbs: []string{"list"},
	}}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "reader"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "reader"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "reader"}},
	}
	require.NoError(t, s.Client.Create(t.Context(), role))
	require.NoError(t, s.Client.Create(t.Context(), binding))
	var report inspect.Report
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		code, report = s.report(namespace)
		assert.Len(c, report.Objects, 2)
	}, time.Minute, 100*time.Millisecond, "the API server sees the role soon")
	assert.Equal(t, inspect.ExitFailed, code)
	require.Len(t, report.Unread, 3)
	for i, resource := range []string{"managedresources", "machinedeployments", "machines"} {
		assert.Contains(t, report.Unread[i], "listing "+resource+": ")
	}
}

func TestCommand_Errors(t *testing.T) {
	s := newSeed(t)
	s.shootNamespace("shoot--dev--similar")
	none := filepath.Join(t.TempDir(), "none")
	for sentence, test := range map[string]struct {
		args []string
		want string
	}{
		"a namespace that does not exist":   {[]string{"shoot--dev--simular"}, `namespace "shoot--dev--simular" does not exist; the shoot namespaces`},
		"and which one is similar":          {[]string{"similar"}, " shoot--dev--similar"},
		"a namespace that is of no shoot":   {[]string{"kube-system"}, `namespace "kube-system" has no Infrastructure, ControlPlane, Network or Worker, and no label of a shoot`},
		"no namespace":                      {nil, "exactly one namespace of a shoot is required"},
		"two namespaces":                    {[]string{"a", "b"}, "not 2 arguments\nSee kubectl trellis --help."},
		"another output":                    {[]string{"-o", "yaml", "a"}, `--output: "yaml" is none of text, json, svg`},
		"another flag":                      {[]string{"--fast", "a"}, "unknown flag: --fast"},
		"a timeout of nothing":              {[]string{"--timeout=0s", "a"}, "--timeout: must be positive"},
		"a kubeconfig that does not exist":  {[]string{"--kubeconfig", none, "a"}, "loading kubeconfig: stat " + none},
		"a context that does not exist":     {[]string{"--context", "other", "a"}, `loading kubeconfig: context "other" does not exist`},
		"a seed that does not answer":       {[]string{"--timeout=1ns", "a"}, "the seed has not answered within --timeout 1ns"},
		"a namespace that is no valid name": {[]string{"a/b"}, `"a/b"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			code, out, errOut := s.run(test.args...)
			assert.Equal(t, inspect.ExitFailed, code)
			assert.Empty(t, out)
			assert.Contains(t, errOut, "kubectl trellis: ")
			assert.Contains(t, errOut, test.want)
		})
	}
}

func TestCommand_Help(t *testing.T) {
	command := inspect.Command{Name: "trellis-inspect"}
	var out, errOut bytes.Buffer
	assert.Equal(t, inspect.ExitHealthy, command.Run(t.Context(), []string{"--help", "a", "b"}, &out, &errOut))
	for _, want := range []string{"trellis-inspect [flags] SHOOT-NAMESPACE", "--kubeconfig", "--context", "-o, --output", "--timeout", "Exit codes:"} {
		assert.Contains(t, out.String(), want)
	}
	out.Reset()
	assert.Equal(t, inspect.ExitHealthy, command.Run(t.Context(), []string{"--version"}, &out, &errOut))
	assert.Contains(t, out.String(), "trellis-inspect ")
	assert.Empty(t, errOut.String())
}

func TestNameOf(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/local/bin/trellis-inspect": "trellis-inspect", "kubectl-trellis": "kubectl trellis", `C:\bin\kubectl-trellis.exe`: "kubectl trellis",
	} {
		assert.Equal(t, want, inspect.NameOf(path))
	}
}
