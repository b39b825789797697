package conformance

func policy() []Behaviour {
	return []Behaviour{}
}
