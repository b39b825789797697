package sample

// Generated is not looked at.
//
// +kubebuilder:object:root=true
type Generated struct {
	// A is a.
	A string `json:"a"`
}
