package networktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/network"
)

// watched is a driver that is asked everything twice, and complained about when it is not pure, or breaks its word.
type watched struct {
	driver network.Driver

	mutex      sync.Mutex
	complaints []string
}

var _ network.Driver = (*watched)(nil)

func (w *watched) complainf(format string, args ...any) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if complaint := fmt.Sprintf(format, args...); !slices.Contains(w.complaints, complaint) {
		w.complaints = append(w.complaints, complaint)
	}
}

// Complaints returns what the driver has done wrong so far.
func (w *watched) Complaints() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Clone(w.complaints)
}

// twice asks twice, and holds the answers and the inputs against each other.
func twice[T any](w *watched, question string, inputs func() []byte, ask func() (T, error)) (T, error) {
	before := inputs()
	answer, err := ask()
	first := written(answer, fmt.Sprint(err))
	again, errAgain := ask()
	if second := written(again, fmt.Sprint(errAgain)); !bytes.Equal(first, second) {
		w.complainf("%s answers the same question differently: %s", question, difference(first, second))
	}
	if after := inputs(); !bytes.Equal(before, after) {
		w.complainf("%s changes its inputs: %s", question, difference(before, after))
	}
	return answer, err
}

// Capabilities implements network.Driver.
func (w *watched) Capabilities(shoot *network.Shoot) network.Capabilities {
	can, _ := twice(w, "Capabilities", func() []byte { return view(shoot) }, func() (network.Capabilities, error) { return w.driver.Capabilities(shoot), nil })
	return can
}

// Validate implements network.Driver.
func (w *watched) Validate(shoot *network.Shoot) field.ErrorList {
	problems, _ := twice(w, "Validate", func() []byte { return view(shoot) }, func() (field.ErrorList, error) { return w.driver.Validate(shoot), nil })
	return problems
}

// Render implements network.Driver.
func (w *watched) Render(shoot *network.Shoot) (*network.Rendering, error) {
	rendering, err := twice(w, "Render", func() []byte { return view(shoot) }, func() (*network.Rendering, error) { return w.driver.Render(shoot) })
	if err != nil {
		w.complainf("Render fails although Validate has accepted the shoot: %s", err)
		return nil, err
	}
	w.inspect("Render", rendering)
	return rendering, nil
}

// Transition implements network.Driver.
func (w *watched) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	stage, err := twice(w, "Transition", func() []byte { return slices.Concat(view(shoot), written(wanted)) }, func() (*network.Stage, error) { return w.driver.Transition(shoot, wanted) })
	if err != nil || stage == nil {
		return stage, err
	}
	if stage.Name == "" || stage.Rendering == nil {
		w.complainf("Transition returns a stage without a name, or without a rendering")
		return stage, err
	}
	w.inspect("Transition", stage.Rendering)
	return stage, nil
}

// view is what can be written of a shoot.
func view(shoot *network.Shoot) []byte {
	return written(struct {
		network.Shoot
		Image any
	}{Shoot: *shoot})
}

// inspect looks at one rendering.
func (w *watched) inspect(question string, rendering *network.Rendering) {
	var form any
	encoded := written(rendering.Form)
	if err := json.Unmarshal(encoded, &form); err != nil || form == nil {
		w.complainf("%s returns a form that nobody can keep: %s", question, encoded)
	}
	if rendering.Status != nil && rendering.Status.GetObjectKind().GroupVersionKind().Empty() {
		w.complainf("%s returns a status without a kind", question)
	}
	for _, object := range slices.Concat(rendering.Shoot, rendering.Seed) {
		if secret, ok := asSecret(object); ok && len(secret.Data)+len(secret.StringData) > 0 {
			w.complainf("%s returns Secret %s, and may hold no credentials", question, object.GetName())
		}
		if text := written(object); bytes.Contains(text, []byte("PRIVATE KEY-----")) {
			w.complainf("%s returns %T %s with a private key", question, object, object.GetName())
		}
	}
}

func asSecret(object client.Object) (*corev1.Secret, bool) {
	if generic, ok := object.(*unstructured.Unstructured); ok && generic.GetKind() == "Secret" {
		secret := &corev1.Secret{}
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(generic.Object, secret)
		return secret, err == nil
	}
	secret, ok := object.(*corev1.Secret)
	return secret, ok
}

// written returns things as JSON. What cannot be written is different each time.
func written(things ...any) []byte {
	var all [][]byte
	for _, thing := range things {
		text, err := json.Marshal(thing)
		if err != nil {
			text = fmt.Appendf(nil, "%p: %s", &err, err)
		}
		all = append(all, text)
	}
	return bytes.Join(all, []byte("\n"))
}

// difference shows where two texts begin to differ.
func difference(one, other []byte) string {
	const before, shown = 60, 120
	at := 0
	for at < min(len(one), len(other)) && one[at] == other[at] {
		at++
	}
	from := max(0, at-before)
	return strings.Join([]string{string(one[from:min(len(one), from+shown)]), string(other[from:min(len(other), from+shown)])}, " | ")
}
