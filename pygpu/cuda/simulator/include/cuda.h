/* cuda.h - what it would declare is known without it; the name is here so that no toolkit's file is read instead. */
#pragma once
