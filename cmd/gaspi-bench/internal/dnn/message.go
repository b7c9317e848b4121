package dnn

// elementSize is the bytes of an element of a gradient: float32.
const elementSize = 4

// A Message is what one allreduce reduces: a gradient, or several that were fused.
// Gradients lie one behind the other in the order in which they are made, so that
// fusing copies nothing.
type Message struct {
	Gradients int // how many tensors
	Offset    int // elements, from the first gradient
	Count     int // elements
	Layer     int // the layer, by its number in the model, that makes the last of them
}

// Bytes is the length of a message.
func (m Message) Bytes() int { return m.Count * elementSize }

// Messages returns the messages of a backward pass, in its order: the last layer's tensors come
// first, and in a layer its last tensor. With fuse above 0, consecutive gradients go together
// as long as they have at most fuse bytes, as Horovod does it; one that is longer goes alone.
// fuse 0 sends each by itself.
func (m *NeuralNetwork) Messages(fuse int) []Message {
	var all []Message
	offset := 0
	for l := len(m.Layers) - 1; l >= 0; l-- {
		tensors := m.Layers[l].Tensors
		for t := len(tensors) - 1; t >= 0; t-- {
			n := tensors[t].Count
			if tensors[t].Fixed {
				continue
			}
			if last := len(all) - 1; fuse > 0 && last >= 0 && (all[last].Count+n)*elementSize <= fuse {
				all[last].Gradients++
				all[last].Count += n
				all[last].Layer = l
			} else {
				all = append(all, Message{Gradients: 1, Offset: offset, Count: n, Layer: l})
			}
			offset += n
		}
	}
	return all
}

// elements is the length of all messages.
func elements(all []Message) int {
	last := all[len(all)-1]
	return last.Offset + last.Count
}

// longest is the message with the most elements, the first of them.
func longest(all []Message) Message {
	most := all[0]
	for _, m := range all {
		if m.Count > most.Count {
			most = m
		}
	}
	return most
}
