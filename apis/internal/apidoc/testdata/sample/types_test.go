package sample

// Forgotten is not looked at.
//
// +kubebuilder:object:root=true
type Forgotten struct {
	// A is a.
	A string `json:"a"`
}
