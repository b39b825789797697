// Package sample is an API.
//
// It has two paragraphs.
//
// +groupName=sample.example.com
package sample

import (
	core "example.com/core"
	"example.com/intstr"
	meta "example.com/meta"
	"example.com/runtime"
)

// Settings are what a user
// writes.
//
// +kubebuilder:object:root=true
type Settings struct {
	meta.TypeMeta `json:",inline"`

	// Name is the name | or the alias.
	Name string `json:"name"`
	// Parts are the parts.
	// +optional
	Parts []Part `json:"parts,omitempty"`
	// Spare takes a part out.
	// +optional
	Spare *Part `json:"spare,omitempty"`
	// Size says how large.
	//
	// Deprecated: use name.
	//
	// Default: as large as
	// the name.
	// +optional
	Size *int32 `json:"size,omitempty"`
	// Timeout bounds it.
	Timeout *meta.Duration `json:"timeout,omitempty"`
	// Requests are foreign, but common.
	// +optional
	Requests *core.ResourceList `json:"requests,omitempty"`
	// Template is foreign.
	Template *core.NodeTemplate `json:"template,omitempty"`
	// Since is foreign, but common, as are the next ones.
	Since meta.Time `json:"since"`
	// Share is a part of all.
	Share *intstr.IntOrString `json:"share"`
	// Selector selects.
	Selector *meta.LabelSelector `json:"selector"`
	// SecretRef names a Secret.
	SecretRef *core.LocalObjectReference `json:"secretRef"`
	// Values are anything.
	Values *runtime.RawExtension `json:"values"`
	// Archive is read by machines.
	Archive []byte `json:"archive"`
	// Flags switch things.
	Flags map[string]bool `json:"flags,omitempty"`
	// Colour is a named string.
	Colour Colour `json:"colour"`
	// Anything is anything.
	Anything any `json:"anything"`

	// Hidden is not in the document.
	Hidden string `json:"-"`
	secret string
}

// Part is a part.
type Part struct {
	// Self is a part, again.
	Self *Part `json:"self,omitempty"`
}

// Colour is a colour.
type Colour string

// Colours that there are.
const (
	// Red is the colour of fire.
	Red  Colour = "red"
	Blue        = "blue" // the colour of the sky
	four        = "four"
	Five        = 5
)

const (
	Unintroduced = "unintroduced"
)

// Alone is for programmers.
const Alone = "alone"

// Helper has no JSON.
type Helper struct{ N int }
