package signing

// Provenance is the predicate of ProvenanceType: from what, by what and how something was built.
type Provenance struct {
	BuildDefinition BuildDefinition `json:"buildDefinition"`
	RunDetails      RunDetails      `json:"runDetails"`
}

// BuildDefinition is the input of a build. The same input gives the same image.
type BuildDefinition struct {
	BuildType            string               `json:"buildType"`
	ExternalParameters   map[string]any       `json:"externalParameters"`
	ResolvedDependencies []ResourceDescriptor `json:"resolvedDependencies"`
}

// ResourceDescriptor names something that was used.
type ResourceDescriptor struct {
	URI    string            `json:"uri,omitempty"`
	Name   string            `json:"name,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

// RunDetails says who ran the build.
type RunDetails struct {
	Builder Builder `json:"builder"`
}

// Builder is named by a URI.
type Builder struct {
	ID string `json:"id"`
}
