// The page starts here.

import { applyTheme } from './theme';
import './app';

applyTheme();
