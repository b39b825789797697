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

const exampleType = "barn"

// exampleConfig is how users configure barns. Nodes are barns, and animals go from one to the other by doors, which are made of wood
// or of iron.
type exampleConfig struct {
	metav1.TypeMeta `json:",inline"`
	// Door is "wood", "iron" or "walled", which is for good. Empty is "wood".
	Door string `json:"door,omitempty"`
	// Keeper says that somebody keeps the doors.
	Keeper bool `json:"keeper,omitempty"`
	// Paths says that the cloud makes paths between barns.
	Paths bool `json:"paths,omitempty"`
}

func (c *exampleConfig) DeepCopyObject() runtime.Object {
	copied := *c
	return &copied
}

func newExampleConfig(config exampleConfig) *exampleConfig {
	config.SetGroupVersionKind(schema.GroupVersionKind{Group: "barn.example.org", Version: "v1", Kind: "BarnConfig"})
	return &config
}

// exampleForm is what barns have to agree upon: doors that animals come in by, and those that they leave by.
type exampleForm struct {
	In   []string `json:"in"`
	Out  string   `json:"out"`
	Path bool     `json:"path,omitempty"`
}

// checkExampleConnectivity tells whether animals get from barn to barn.
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
				return fmt.Errorf("who leaves by %s does not come in by %s", from.Out, to.In)
			}
		}
	}
	return nil
}

// exampleNet is a plugin of one DaemonSet. From one kind of door to another it goes in two stages: barns get both doors to come in by,
// and then another one to leave by; the old door goes last. The functions break it in tests, and may be nil.
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
	if config.Door == "" {
		config.Door = "wood"
	}
	return config, nil
}

func (b exampleNet) Capabilities(shoot *network.Shoot) network.Capabilities {
	config, err := b.config(shoot)
	if err != nil {
		return network.Capabilities{}
	}
	return network.Capabilities{RoutesServices: config.Keeper, ServiceRouting: "set keeper to true", IPv6: true, DualStack: true}
}

func (b exampleNet) Validate(shoot *network.Shoot) field.ErrorList {
	config, err := b.config(shoot)
	path := field.NewPath("spec", "networking", "providerConfig")
	if err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	if config.Door != "wood" && config.Door != "iron" && config.Door != "walled" {
		return field.ErrorList{field.NotSupported(path.Child("door"), config.Door, []string{"wood", "iron", "walled"})}
	}
	return nil
}

func (b exampleNet) Render(shoot *network.Shoot) (*network.Rendering, error) {
	config, err := b.config(shoot)
	if err != nil {
		return nil, err
	}
	rendering, err := b.rendering(shoot, config, exampleForm{In: []string{config.Door}, Out: config.Door, Path: config.Paths})
	if err == nil && b.render != nil {
		b.render(shoot, rendering)
	}
	return rendering, err
}

func (exampleNet) rendering(shoot *network.Shoot, config *exampleConfig, form exampleForm) (*network.Rendering, error) {
	image, err := shoot.Image("barn")
	if err != nil {
		return nil, err
	}
	rendering := &network.Rendering{
		Shoot:  []client.Object{daemonSet("barn", image, form), configMap("kube-system", "barn-doors", fmt.Sprint(form.In, shoot.Families))},
		Seed:   []client.Object{configMap(shoot.Network.Namespace, "barn-dashboards", shoot.TechnicalID)},
		Form:   form,
		Status: config,
	}
	rendering.Status.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: "barn.example.org", Version: "v1", Kind: "BarnConfig"})
	if config.Keeper {
		rendering.Shoot = append(rendering.Shoot, deployment("barn-keeper", image))
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
	gate := network.Gate{Workloads: []network.Workload{{Kind: "DaemonSet", Namespace: "kube-system", Name: "barn"}}}
	if config.Keeper {
		gate.Workloads = append(gate.Workloads, network.Workload{Kind: "Deployment", Namespace: "kube-system", Name: "barn-keeper"})
	}
	both := []string{"iron", "wood"}
	step := func(name string, form exampleForm) (*network.Stage, error) {
		rendering, err := b.rendering(shoot, config, form)
		return &network.Stage{Name: name, Rendering: rendering, Gate: gate}, err
	}
	rolledOut, sameDoor, oneDoor := shoot.Deployed.RolledOut, now.Out == to.Out, len(now.In) == 1
	switch {
	case sameDoor && oneDoor && to.Path && !now.Path && !rolledOut:
		gate.Routes = true
		return step("waiting for paths", now)
	case sameDoor && oneDoor:
		return nil, nil
	case now.Out == "walled":
		return nil, cloud.Errorf(cloud.Configuration, "spec.networking.providerConfig.door: walls stay, set it to walled again")
	case to.Out == "walled":
		return nil, cloud.Errorf(cloud.Configuration, "spec.networking.providerConfig.door: animals live here, leave it")
	case oneDoor, !rolledOut && !sameDoor:
		return step("fitting doors of both kinds", exampleForm{In: both, Out: now.Out, Path: now.Path})
	case !sameDoor, !rolledOut:
		return step("opening the new doors", exampleForm{In: both, Out: to.Out, Path: now.Path})
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
