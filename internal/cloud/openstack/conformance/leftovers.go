package conformance

func leftovers() []Behaviour {
	return []Behaviour{}
}
