package networktest_test

import (
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/network"
)

const exampleType = "example-net"

// exampleConfig configures the example plugin, whose nodes encapsulate packets.
type exampleConfig struct {
	metav1.TypeMeta `json:",inline"`
	// Encapsulation is "vxlan", "ipip" or "none", which cannot be changed. Empty is "vxlan".
	Encapsulation string `json:"encapsulation,omitempty"`
	// Agent deploys an agent that routes Services.
	Agent bool `json:"agent,omitempty"`
	// Routes says that the cloud routes pods.
	Routes bool `json:"routes,omitempty"`
}

func (c *exampleConfig) DeepCopyObject() runtime.Object {
	copied := *c
	return &copied
}

func newExampleConfig(config exampleConfig) *exampleConfig {
	config.SetGroupVersionKind(schema.GroupVersionKind{Group: "example-net.example.org", Version: "v1", Kind: "ExampleNetConfig"})
	return &config
}

// exampleForm is what nodes have to agree upon: the encapsulations that they accept, and the one that they send.
type exampleForm struct {
	In     []string `json:"in"`
	Out    string   `json:"out"`
	Routes bool     `json:"routes,omitempty"`
}

// checkExampleConnectivity fails if a node does not accept what another one sends.
func checkExampleConnectivity(nodes, _ []json.RawMessage) error {
	forms := make([]exampleForm, len(nodes))
	for i, raw := range nodes {
		if err := json.Unmarshal(raw, &forms[i]); err != nil {
			return err
		}
	}
	for _, from := range forms {
		for _, to := range forms {
			if !slices.Contains(to.In, from.Out) {
				return fmt.Errorf("packets in %s are sent to nodes that accept %s", from.Out, to.In)
			}
		}
	}
	return nil
}

// exampleNet is a plugin of one DaemonSet. It changes the encapsulation in two stages: first nodes accept both, then they send the new one; at last they
// accept it alone. The functions break it in tests, and may be nil.
type exampleNet struct {
	render     func(*network.Shoot, *network.Rendering)
	transition func(*network.Shoot, *network.Stage) (*network.Stage, error)
}

var _ network.Driver = exampleNet{}

func (exampleNet) config(shoot *network.Shoot) (*exampleConfig, error) {
	config := &exampleConfig{}
	if raw := shoot.Network.Spec.ProviderConfig; raw != nil {
		if err := json.Unmarshal(raw.Raw, config); err != nil {
			return nil, err
		}
	}
	if config.Encapsulation == "" {
		config.Encapsulation = "vxlan"
	}
	return config, nil
}

func (b exampleNet) Capabilities(shoot *network.Shoot) network.Capabilities {
	config, err := b.config(shoot)
	if err != nil {
		return network.Capabilities{}
	}
	return network.Capabilities{RoutesServices: config.Agent, ServiceRouting: "set agent to true", IPv6: true, DualStack: true}
}

func (b exampleNet) Validate(shoot *network.Shoot) field.ErrorList {
	config, err := b.config(shoot)
	path := field.NewPath("spec", "networking", "providerConfig")
	if err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	if config.Encapsulation != "vxlan" && config.Encapsulation != "ipip" && config.Encapsulation != "none" {
		return field.ErrorList{field.NotSupported(path.Child("encapsulation"), config.Encapsulation, []string{"vxlan", "ipip", "none"})}
	}
	return nil
}

func (b exampleNet) Render(shoot *network.Shoot) (*network.Rendering, error) {
	config, err := b.config(shoot)
	if err != nil {
		return nil, err
	}
	rendering, err := b.rendering(shoot, config, exampleForm{In: []string{config.Encapsulation}, Out: config.Encapsulation, Routes: config.Routes})
	if err == nil && b.render != nil {
		b.render(shoot, rendering)
	}
	return rendering, err
}

func (exampleNet) rendering(shoot *network.Shoot, config *exampleConfig, form exampleForm) (*network.Rendering, error) {
	image, err := shoot.Image("example-net")
	if err != nil {
		return nil, err
	}
	rendering := &network.Rendering{
		Shoot:  []client.Object{daemonSet("example-net", image, form), configMap("kube-system", "example-net-config", fmt.Sprint(form.In, shoot.Families))},
		Seed:   []client.Object{configMap(shoot.Network.Namespace, "example-net-dashboards", shoot.TechnicalID)},
		Form:   form,
		Status: config,
	}
	rendering.Status.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: "example-net.example.org", Version: "v1", Kind: "ExampleNetConfig"})
	if config.Agent {
		rendering.Shoot = append(rendering.Shoot, deployment("example-net-agent", image))
	}
	return rendering, nil
}

func (b exampleNet) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	var now exampleForm
	if err := json.Unmarshal(shoot.Deployed.Form, &now); err != nil {
		return nil, err
	}
	stage, err := b.stage(shoot, now, wanted.Form.(exampleForm))
	if err == nil && b.transition != nil {
		return b.transition(shoot, stage)
	}
	return stage, err
}

func (b exampleNet) stage(shoot *network.Shoot, now, to exampleForm) (*network.Stage, error) {
	config, err := b.config(shoot)
	if err != nil {
		return nil, err
	}
	gate := network.Gate{Workloads: []network.Workload{{Kind: "DaemonSet", Namespace: "kube-system", Name: "example-net"}}}
	if config.Agent {
		gate.Workloads = append(gate.Workloads, network.Workload{Kind: "Deployment", Namespace: "kube-system", Name: "example-net-agent"})
	}
	both := []string{"ipip", "vxlan"}
	step := func(name string, form exampleForm) (*network.Stage, error) {
		rendering, err := b.rendering(shoot, config, form)
		return &network.Stage{Name: name, Rendering: rendering, Gate: gate}, err
	}
	rolledOut, sameEncapsulation, oneEncapsulation := shoot.Deployed.RolledOut, now.Out == to.Out, len(now.In) == 1
	switch {
	case sameEncapsulation && oneEncapsulation && to.Routes && !now.Routes && !rolledOut:
		gate.Routes = true
		return step("waiting for routes", now)
	case sameEncapsulation && oneEncapsulation:
		return nil, nil
	case now.Out == "none":
		return nil, cloud.Errorf(cloud.Configuration, "spec.networking.providerConfig.encapsulation: it cannot be changed, set it to none again")
	case to.Out == "none":
		return nil, cloud.Errorf(cloud.Configuration, "spec.networking.providerConfig.encapsulation: it cannot become none, leave it")
	case oneEncapsulation, !rolledOut && !sameEncapsulation:
		return step("accepting both encapsulations", exampleForm{In: both, Out: now.Out, Routes: now.Routes})
	case !sameEncapsulation, !rolledOut:
		return step("sending the new encapsulation", exampleForm{In: both, Out: to.Out, Routes: now.Routes})
	default:
		return nil, nil
	}
}

func daemonSet(name, image string, form exampleForm) *appsv1.DaemonSet {
	labels := map[string]string{"app": name}
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{"form": fmt.Sprint(form)}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: image}}},
		}},
	}
}

func deployment(name, image string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: image}}},
		}},
	}
}

func configMap(namespace, name, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string]string{"text": text},
	}
}
