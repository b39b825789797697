package conformance

func tagsAndDescriptions() []Behaviour {
	return []Behaviour{}
}
