/* No context: the encoder's summary starts the decoder and nothing else.
 * RNNencdec of Cho et al. 2014 and Sutskever et al. 2014 */
#include "attention/attention.h"

const struct align align_none = { .name = "none" };
